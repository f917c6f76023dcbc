import { type Batch, type Context, noEvents, subjectNamed } from '../../../shared/function.ts';
import type { KubernetesObject, Resource } from '../../../shared/kinds/resource.ts';
import type { Cloud } from '../../../shared/runtime/openstack/clouds.ts';

interface Crowd<T> {
  resource: Resource<T & KubernetesObject>;
  objects: readonly T[];
  /** What the project has, by the keys of OpenStack's lists. */
  lists: Readonly<Record<string, readonly object[]>>;
}

/** How often an audit reads a field of what OpenStack lists, for each object that there is. */
export async function looksPerObject<T extends KubernetesObject>(
  gather: (context: Context, batch: Batch) => Promise<readonly unknown[]>,
  { resource, objects, lists }: Crowd<T>,
): Promise<number> {
  let looks = 0;
  const watched = (one: object) =>
    new Proxy(one, {
      get: (of, field) => {
        looks++;
        return Reflect.get(of, field);
      },
    });
  const list = async (_: unknown, key: string) => (lists[key] ?? []).map(watched);
  const cloud = {
    project: 'lab',
    account: 'me',
    list,
    send: async () => ({ servers: [], instanceActions: [] }),
  } as unknown as Cloud;
  const kube = {
    get: async ({ kind }: Resource, { name }: { name: string }) =>
      kind === resource.kind ? objects.find(({ metadata }) => metadata.name === name) : undefined,
    list: async () => [],
  } as unknown as Context['kube'];
  const context: Context = {
    ...{ kube, nowMs: Date.now(), refusals: new Map(), gracePeriodMs: 0 },
    openClouds: () => ({ of: async () => cloud, shared: async () => cloud }),
  };
  await gather(context, { ...noEvents, audited: objects.map(({ metadata }) => subjectNamed(resource, metadata)) });
  return looks / objects.length;
}
