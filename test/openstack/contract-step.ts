/** Who asks: the cloud's administrator, a member of the case's own project, the administrator in that project, or no one. `{x}` is a token that was saved as x. */
export type Who = 'admin' | 'member' | 'owner' | 'nobody' | `{${string}}`;

/** One request; what it is answered is in the recording. In paths, headers and bodies `{x}` is what was saved as x. */
export interface Step {
  /** Method, service, path behind the service's address: `POST compute /servers`. */
  ask: string;
  body?: unknown;
  /** Sent as it is, instead of `body`. */
  bytes?: string;
  /** By default the administrator asks Keystone, a member all others. */
  as?: Who;
  /** The microversion; by default 2.79 of Nova and 3.59 of Cinder. null asks for none. */
  version?: string | null;
  headers?: Record<string, string>;
  /** Keeps values of the answer by their path (`server.id`), or a header's (`header:x-subject-token`). */
  save?: Record<string, string>;
  /** Headers that are compared, beside those that always are. */
  shows?: string[];
  /** Asked again until the values at these paths (or the HTTP status) are so; all that was seen on the way is compared. */
  until?:
    | { paths: string[]; are: unknown[] }
    | { paths: string[]; areNot: unknown[] }
    | { status: number; paths: string[] };
  /** Which part of the body is compared; by default all of it. */
  pick?(body: never): unknown;
}

/** Facts about OpenStack, and the requests that show each: the same of the simulator and of the real services. Each has a project and a user of its own. */
export type Cases = Readonly<Record<string, readonly Step[]>>;

/** The body's fields of these names only. */
export const only =
  (...names: string[]) =>
  (body: Record<string, unknown>) =>
    Object.fromEntries(
      names.map((name) => [
        name,
        name.split('.').reduce<unknown>((part, key) => (part as Record<string, unknown> | undefined)?.[key], body),
      ]),
    );

/** Under which word a refusal comes, and its code: for those whose message is a library's. */
export const code = (body: Record<string, { code: number }>) =>
  Object.entries(body).map(([name, each]) => [name, each.code]);
