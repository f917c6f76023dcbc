import * as z from 'zod';
import { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { ObjectMeta, type Resource } from '../../shared/kinds/resource.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { rateLimiter } from '../gateway/rate-limiter.ts';

const User = z.object({
  username: z.string(),
  uid: z.string().optional(),
  groups: z.array(z.string()),
  extra: z.record(z.string(), z.array(z.string())).optional(),
});
type User = z.infer<typeof User>;

/** A question to the API server, which has no name and is not kept. */
function defineReview<S extends z.ZodType>(apiVersion: string, kind: string, status: S) {
  const plural = `${kind.toLowerCase()}s`;
  const metadata = ObjectMeta.parse({ name: '' });
  const parse = (value: unknown) => ({
    apiVersion,
    kind,
    metadata,
    status: status.parse((value as { status?: unknown } | undefined)?.status) as z.infer<S>,
  });
  return { apiVersion, kind, plural, namespaced: false, parse };
}

const TokenReview = defineReview(
  'authentication.k8s.io/v1',
  'TokenReview',
  z.object({ authenticated: z.boolean().default(false), user: User.partial().optional() }),
);

/** Asks whether a user may do something. */
const SubjectAccessReview = defineReview(
  'authorization.k8s.io/v1',
  'SubjectAccessReview',
  z.object({ allowed: z.boolean().default(false) }),
);

/** A user of the page. */
export interface Viewer {
  name: string;
  /** Whether the user may list the objects of that kind: in that namespace, or in all if none is named. */
  mayList(what: Viewed, namespace?: string): Promise<boolean>;
}

/** What the page shows, by the kind whose right it takes. */
export const viewedKinds = {
  images: VMDiskImage,
  machines: VirtualMachine,
  servers: KupenStackMachine,
  workspaces: Workspace,
} as const;
export type Viewed = keyof typeof viewedKinds;

/**
 * How long an answer of the API server about a user is cached: together with the interval of an open page, a user who loses a right
 * no longer sees the objects within half a minute.
 */
const keptMs = 10_000;

/** The number of cached tokens. */
const mostKept = 1000;

/** How many tokens of strangers the API server is asked about in a minute, by each instance; users who are already in are not counted. */
const strangersPerMinute = 60;

/** There were too many unknown tokens in this minute. */
export class TooManyStrangers extends Error {
  readonly waitSeconds: number;

  constructor(waitSeconds: number) {
    super(`more than ${strangersPerMinute} unknown tokens in a minute`);
    this.waitSeconds = waitSeconds;
  }
}

/**
 * Looks up the user of a token with the cluster's own authentication; undefined for an invalid token. Throws if the API server does not
 * answer, and TooManyStrangers instead of asking it.
 */
export function authorizer(kube: Pick<Kube, 'create'>, now: () => number) {
  const known = new Map<string, { untilMs: number; isUser: boolean; viewer: Promise<Viewer | undefined> }>();
  const limit = rateLimiter(now);
  return async (token: string): Promise<Viewer | undefined> => {
    const before = known.get(token);
    if (before && before.untilMs > now()) return before.viewer;
    const over = before?.isUser ? undefined : limit('strangers', strangersPerMinute);
    if (over) throw new TooManyStrangers(over.waitSeconds);
    const viewer = ask(kube, token);
    const entry = { untilMs: now() + keptMs, isUser: before?.isUser ?? false, viewer };
    known.delete(token);
    known.set(token, entry);
    viewer.then(
      (found) => {
        entry.isUser = found !== undefined;
      },
      () => known.delete(token),
    );
    for (const [oldest] of known) if (known.size > mostKept) known.delete(oldest);
    return viewer;
  };
}

async function ask(kube: Pick<Kube, 'create'>, token: string): Promise<Viewer | undefined> {
  const { status } = await kube.create(TokenReview, { ...head(TokenReview), spec: { token } });
  const { user } = status;
  if (!status.authenticated || !user?.username) return undefined;
  const { username, groups = [] } = user;
  const answers = new Map<string, Promise<boolean>>();
  return {
    name: username,
    mayList(what, namespace) {
      const key = `${what} ${namespace ?? ''}`;
      const answer = answers.get(key) ?? allowed(kube, { ...user, username, groups }, viewedKinds[what], namespace);
      answers.set(key, answer);
      return answer;
    },
  };
}

async function allowed(
  kube: Pick<Kube, 'create'>,
  { username, uid, groups, extra }: User,
  { apiVersion, plural }: Resource,
  namespace: string | undefined,
): Promise<boolean> {
  const [group = '', version = ''] = apiVersion.split('/');
  const resourceAttributes = { verb: 'list', group, version, resource: plural, ...(namespace ? { namespace } : {}) };
  const { status } = await kube.create(SubjectAccessReview, {
    ...head(SubjectAccessReview),
    spec: { user: username, uid, groups, extra, resourceAttributes },
  });
  return status.allowed;
}

const head = ({ apiVersion, kind }: Resource) => ({ apiVersion, kind, metadata: {} });
