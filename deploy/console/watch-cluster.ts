import { leaseName, leaseRef } from '../../shared/images/slots.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { type KubernetesObject, keyOf, type Resource } from '../../shared/kinds/resource.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { policyName, policyRef } from '../../shared/policy.ts';
import { hasStatus } from '../../shared/runtime/errors.ts';
import { follow } from '../../shared/runtime/follow.ts';
import type { ListOptions } from '../../shared/runtime/kube.ts';
import { realPause, type Watching } from '../../shared/runtime/reflect.ts';
import type { KubernetesEvent } from '../cli/kubernetes-event.ts';
import { changesOf } from './changes.ts';
import { amongOf, type Input, viewOf } from './rows.ts';
import { type Among, explain, visibleAmong } from './trouble.ts';
import type { Changes, Explanation, ObjectAt, View } from './view.ts';

/** What the page shows at this moment, and word of every change. */
export interface Watched {
  view(): View;
  /** Calls back with what changed, several times a second at most; hands back how to end it. */
  onChange(listener: (changes: Changes) => void): () => void;
  /** The Events about one object that still exist. */
  eventsOf(kind: Pick<Resource, 'apiVersion' | 'kind'>, namespace: string | undefined, name: string): KubernetesEvent[];
  image(key: string): VMDiskImage | undefined;
  /** Why an object is not Ready, as far as a user knows who may see these objects; undefined if it does not exist. */
  why(
    object: ObjectAt,
    maySee: (section: 'images' | 'machines', key: string) => boolean,
  ): Explanation['why'] | undefined;
  close(): void;
}

/** One object of that name, as its right is for that name alone. */
const own = (name: string): ListOptions => ({
  namespace: operatorNamespace,
  fieldSelector: `metadata.name=${name}`,
});

/** People see four changes a second as smooth, and a crowd of writes costs one computation. */
const gatherMs = 250;

/** However many objects are asked about, the queue is looked at once in this time for why they wait. */
const explainedMs = 1000;

/** The interval of checks for a kind that is not served. */
const servedAgainMs = 60_000;

const groupOf = (apiVersion: string) => apiVersion.split('/')[0];

/** Keeps what the page shows equal to what the API server has; resolves once all was listed. */
export async function watchCluster(kube: Watching, now: () => number): Promise<Watched> {
  const ended = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let isListed = false;
  const dirty = () => {
    if (isListed) timer ??= setTimeout(compute, gatherMs);
  };
  const listed = async <T extends KubernetesObject>(resource: Resource<T>, options: ListOptions = {}) => {
    const objects = new Map<string, T>();
    await follow(kube, resource, options, reflecting, objects, dirty);
    return objects;
  };
  const reflecting = { pause: realPause, signal: ended.signal };
  /** The same for a kind that may be served later. */
  const listedOnceServed = async <T extends KubernetesObject>(resource: Resource<T>) => {
    const objects = new Map<string, T>();
    const begin = async (): Promise<void> => {
      try {
        await follow(kube, resource, {}, reflecting, objects, dirty);
      } catch (error) {
        if (!hasStatus(error, 404)) throw error;
        againWhenServed(begin);
      }
    };
    await begin();
    return objects;
  };
  /** Whatever else a later list meets is no reason to end. */
  const againWhenServed = (begin: () => Promise<void>) => {
    const viewNow = () => begin().catch(() => againWhenServed(begin));
    const later = setTimeout(viewNow, servedAgainMs).unref();
    ended.signal.addEventListener('abort', () => clearTimeout(later), { once: true });
  };
  const [images, machines, servers, workspaces, events, leases, configMaps] = await Promise.all([
    listed(VMDiskImage),
    listed(VirtualMachine),
    listedOnceServed(KupenStackMachine),
    listed(Workspace),
    listed(Event),
    listed(Lease, own(leaseName)),
    listed(ConfigMap, own(policyName)),
  ]);
  const kubernetesEvents = () => [...events.values()] as unknown as KubernetesEvent[];
  const input = (): Input => ({
    nowMs: now(),
    ...{ images, machines, servers, workspaces },
    configMap: configMaps.get(keyOf(policyRef)),
    lease: leases.get(keyOf(leaseRef)),
    events: kubernetesEvents(),
  });
  const look = () => viewOf(input());
  let explained: { among: Among; atMs: number } | undefined;
  const amongNow = (): Among => {
    const atMs = now();
    if (!explained || atMs - explained.atMs >= explainedMs) explained = { among: amongOf(input()), atMs };
    return explained.among;
  };
  const listeners = new Set<(changes: Changes) => void>();
  let current = look();
  isListed = true;
  const compute = () => {
    timer = undefined;
    const next = look();
    explained = undefined;
    const changes = changesOf(current, next);
    current = next;
    if (changes) for (const listener of listeners) listener(changes);
  };
  return {
    view: () => current,
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    eventsOf: ({ apiVersion, kind }, namespace, name) =>
      kubernetesEvents().filter(
        ({ involvedObject: about }) =>
          about?.kind === kind &&
          // Three kinds are called VirtualMachine; who leaves the version out means what has the name.
          (about.apiVersion === undefined || groupOf(about.apiVersion) === groupOf(apiVersion)) &&
          about.name === name &&
          (namespace === undefined || about.namespace === namespace),
      ),
    image: (key) => images.get(key),
    why: ({ section, key }, maySee) => {
      const target = { images, machines, servers, workspaces }[section].get(key);
      const { steps, help, commands } = target ? explain(target, visibleAmong(amongNow(), maySee)) : {};
      return steps && help !== undefined && commands ? { steps, help, commands } : undefined;
    },
    close: () => {
      ended.abort();
      clearTimeout(timer);
      listeners.clear();
    },
  };
}
