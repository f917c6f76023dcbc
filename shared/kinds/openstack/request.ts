/** The OpenStack projects that are asked, by the word that the metric and the trace have for them. */
export type OpenStackService = 'identity' | 'compute' | 'network' | 'volume' | 'image';

/** One request to OpenStack as plain data, with the name of its operation. */
export interface OpenStackRequest {
  service: OpenStackService;
  /** The operation's name, a closed set of words for metrics and traces. */
  operation: string;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Behind the service's own address, query included. */
  path: string;
  body?: unknown;
  /**
   * The effect shows only after a while, and until then nothing reports the request: reconcile after this many milliseconds, not at once.
   */
  showsAfterMs?: number;
  /** What the request makes or changes, where several of one operation are asked for at once: tells their refusals apart. */
  about?: string;
}

/** How one of the services is asked. */
export const requestTo =
  (service: OpenStackService) =>
  (
    operation: string,
    method: OpenStackRequest['method'],
    path: string,
    more: Pick<OpenStackRequest, 'body' | 'showsAfterMs' | 'about'> = {},
  ): OpenStackRequest => ({ service, operation, method, path, ...more });

/** `?a=1&b=2&b=3`, without what is undefined. */
export function queryOf(parameters: Readonly<Record<string, string | readonly string[] | undefined>>): string {
  const entries = Object.entries(parameters).flatMap(([name, value = []]) =>
    [value].flat().map((one) => [name, one] as [string, string]),
  );
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries)}`;
}

/** What a list is narrowed to; none of them is empty. Given both, things match both. */
export interface ListFilter {
  uids?: readonly string[] | undefined;
  names?: readonly string[] | undefined;
}

/** What a list of one thing at a time is narrowed to. */
export interface UidOrName {
  uid?: string;
  name?: string;
}

/** One step of a path: names are users' own. */
export const step = (name: string) => encodeURIComponent(name);

/** What every remote thing of an object carries: Nova takes no `/` in keys of metadata and none, nor a comma, in tags (nova 26: 400). */
export const uidKey = 'kupenstack:uid';

/** The same as one text, for tags and for descriptions. */
export const uidTag = (uid: string) => `${uidKey}=${uid}`;
