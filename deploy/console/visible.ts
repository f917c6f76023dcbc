import type { Viewed, Viewer } from './authorize.ts';
import type { Changes, ClusterRow, ImageRow, Rows, View } from './view.ts';

/** The rows that a user may see: a kind everywhere, or in these namespaces. */
export interface Sight {
  images: Scope;
  machines: Scope;
  servers: Scope;
  workspaces: Scope;
}
type Scope = 'everywhere' | ReadonlySet<string>;

/** Checks the right to list each kind: everywhere, and if that is refused in each namespace with such objects. */
export async function sightOf(viewer: Viewer, view: View): Promise<Sight> {
  const scope = async (what: Viewed, namespaces: ReadonlySet<string>): Promise<Scope> => {
    if (await viewer.mayList(what)) return 'everywhere';
    const asked = await Promise.all(
      [...namespaces].map(async (name) => ({ name, may: await viewer.mayList(what, name) })),
    );
    return new Set(asked.filter(({ may }) => may).map(({ name }) => name));
  };
  const [images, machines, servers, workspaces] = await Promise.all([
    // A user who may list images may also see why one was deleted.
    scope('images', new Set([...namespacesOf(view.images), ...namespacesOf(view.pruned)])),
    scope('machines', namespacesOf(view.machines)),
    scope('servers', namespacesOf(view.servers)),
    // In no namespace: all of them or none.
    scope('workspaces', new Set()),
  ]);
  return { images, machines, servers, workspaces };
}

const namespacesOf = (rows: Rows<{ namespace: string }>) =>
  new Set(Object.values(rows).map(({ namespace }) => namespace));

/** The namespaces that these rows are in. */
export const namespacesIn = ({
  images = {},
  machines = {},
  servers = {},
  pruned = {},
}: { [S in 'images' | 'machines' | 'servers' | 'pruned']: View[S] | undefined }) =>
  new Set([images, machines, servers, pruned].flatMap((rows) => [...namespacesOf(rows)]));

/** Whether there is anything at all that they may see. */
export const seesAnything = (sight: Sight) =>
  Object.values(sight).some((scope: Scope) => scope === 'everywhere' || scope.size > 0);

/** The view without what a user may not see: the places of the queue stay, but not the names of other users' images. */
export const visible = (view: View, sight: Sight): View => ({
  // A user who sees no object learns nothing of slots and queue either.
  cluster: seesAnything(sight) ? mapped(view.cluster, (row) => visibleCluster(row, sight)) : {},
  images: within(
    mapped(view.images, (row) => visibleImage(row, sight)),
    sight.images,
  ),
  machines: within(view.machines, sight.machines),
  servers: within(view.servers, sight.servers),
  workspaces: sight.workspaces === 'everywhere' ? view.workspaces : {},
  pruned: within(view.pruned, sight.images),
});

/** The same of changes; keys that are gone tell nothing but that they are. */
export function visibleChanges(changes: Changes, sight: Sight): Changes | undefined {
  const none = { cluster: {}, images: {}, machines: {}, servers: {}, workspaces: {}, pruned: {} };
  const set = visible({ ...none, ...mapped(changes, (change) => change?.set ?? {}) } as View, sight);
  const found = Object.entries(changes).map(([section, change]) => {
    const gone = (change?.gone ?? []).filter((key) => section === 'pruned' || maySee(section, key, sight));
    return [section, { set: set[section as keyof View], gone }] as const;
  });
  const nonEmpty = found.filter(([, { set: rows, gone }]) => Object.keys(rows).length > 0 || gone.length > 0);
  return nonEmpty.length > 0 ? (Object.fromEntries(nonEmpty) as Changes) : undefined;
}

export function maySee(section: string, key: string, sight: Sight): boolean {
  const scope = section in sight ? sight[section as keyof Sight] : 'everywhere';
  return scope === 'everywhere' || scope.has(key.split('/')[0] ?? '');
}

export const maySeeObject = (kind: Viewed, namespace: string | undefined, sight: Sight) =>
  maySee(kind, `${namespace ?? ''}/`, sight);

const within = <T extends { namespace: string }>(rows: Rows<T>, scope: Scope): Rows<T> =>
  scope === 'everywhere'
    ? rows
    : Object.fromEntries(Object.entries(rows).filter(([, { namespace }]) => scope.has(namespace)));

/** In place of a name. */
export const hidden = '(another namespace)';
const seen = (key: string, scope: Scope) =>
  scope === 'everywhere' || scope.has(key.split('/')[0] ?? '') ? key : hidden;

const visibleCluster = (row: ClusterRow, { images }: Sight): ClusterRow =>
  images === 'everywhere'
    ? row
    : {
        ...row,
        slots: { ...row.slots, held: row.slots.held?.map((slot) => ({ ...slot, image: seen(slot.image, images) })) },
        queue: row.queue.map((key) => seen(key, images)),
        egress: mapped(row.egress, (sums) =>
          Object.fromEntries(Object.entries(sums).filter(([namespace]) => images.has(namespace))),
        ),
        // They tell the budget, and values of the policy.
        stopped: row.stopped && { why: 'an administrator has to look at the queue', command: row.stopped.command },
        pricePerGiB: undefined,
        budget: undefined,
        // Where images come from and under whose names they are downloaded is the administrators'.
        policy: row.policy.filter(({ key }) => key === 'concurrency'),
      };

const visibleImage = (row: ImageRow, { machines }: Sight): ImageRow =>
  machines === 'everywhere' ? row : { ...row, users: row.users.map((key) => seen(key, machines)) };

const mapped = <T, R>(of: Readonly<Record<string, T>>, make: (value: T) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(of).map(([key, value]) => [key, make(value)]));
