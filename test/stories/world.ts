import type { ObjectStore, ObjectStoreOptions } from '../../deploy/local/object-store/object-store.ts';
import type { LocalOptions } from '../../deploy/local/start.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject, ObjectReference, Resource } from '../../shared/kinds/resource.ts';
import { policyRef } from '../../shared/policy.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import type { History } from './history.ts';

/** A cluster as a story sees it: what an admin, a pipeline and an object store's owner can do, and nothing else. */
export interface World {
  kube: Kube;
  /** Where a pipeline posts its events. */
  broker: string;
  store: ObjectStore;
  /** A namespace of the story's own, with a Secret `s3-reader` for the store. */
  namespace: string;
  /** Everything that happened to the objects since the story began. */
  history: History;
  /** For kubectl; undefined where there is no kubectl. */
  kubectl: ((...args: string[]) => Promise<{ code: number; out: string; err: string }>) | undefined;
}

/** One end-to-end story, written once for every kind of cluster. */
export interface Story {
  name: string;
  /** `npm test` runs it; `npm run test:slow` runs all others. */
  quick?: boolean;
  /**
   * Each CI run runs it on a real cluster, because it shows that a function exists, receives its events and may do what it does,
   * or because it needs what is Kubernetes' own (admission, garbage collection, Pods, Jobs). What the functions decide is the
   * same on every cluster, and `npm run test:cluster:slow` runs all stories.
   */
  smoke?: boolean;
  /** Each CI run runs it with Deployments in place of Knative Services, too: what those have to do otherwise. */
  onDeployments?: boolean;
  /** It proves that permissions are needed. */
  provesPermissions?: ProvesPermissions | undefined;
  /** It is skipped, and reported as skipped, where kubectl is not on the PATH. */
  needsKubectl?: boolean;
  /** Why it runs on the local cluster only. */
  localOnly?: string;
  /**
   * What the simulated CDI, snapshotter, KubeVirt and kube-ovn do otherwise, on every cluster, and what runs Deployments and Jobs
   * (`workloads`) on the local one; false leaves them out.
   */
  simulators?: Pick<LocalOptions, 'cdi' | 'snapshotter' | 'kubevirt' | 'kubeOvn' | 'workloads'> | false;
  /** What else goes wrong, or is set otherwise, on the local cluster. */
  local?: Pick<
    LocalOptions,
    'faults' | 'gracePeriodMs' | 'intercept' | 'openStack' | 'replicas' | 'schedules' | 'serveFunctions' | 'workloads'
  >;
  /** What its images come from on the local cluster, if not from our own object store. */
  startStore?: ((options: Pick<ObjectStoreOptions, 'keys' | 'publicBuckets'>) => Promise<ObjectStore>) | undefined;
  /** The policy at its beginning. */
  policy?: Record<string, string>;
  /** The invariants that a person breaks in it, by their numbers: all others are judged at its end. */
  allows?: readonly string[];
  run(world: World): Promise<void>;
}

/** Each permission is used by a story that has this, and one of them fails without it. */
export interface ProvesPermissions {
  /** ServiceAccounts whose permissions other stories use, and mostly do not need: this one is tried first. */
  of?: readonly string[];
  /** Timers run in it, because no event reports what it is about. */
  byTimers?: true;
  /** It is also run with each of these timers alone: every other event is dropped. */
  alsoBy?: readonly ('sweep' | 'audit')[];
}

/** Stories by name; a story that has only its run is that function. */
export type ByName<S extends { run: unknown }> = Readonly<Record<string, Omit<S, 'name'> | S['run']>>;

/** The stories of this table, in its order. */
export const byName = <S extends { name: string; run: unknown }>(stories: ByName<S>): readonly S[] =>
  Object.entries(stories).map(([name, story]) =>
    Object.assign({} as S, typeof story === 'function' ? { run: story } : story, { name }),
  );

type KubectlStory = Omit<Story, 'run'> & {
  run(world: World & { kubectl: NonNullable<World['kubectl']> }): Promise<void>;
};

/** Stories that need the real kubectl. */
export const withKubectl = (stories: ByName<KubectlStory>): readonly Story[] =>
  byName<KubectlStory>(stories).map((story) => ({
    ...story,
    needsKubectl: true,
    run: async ({ kubectl, ...world }) => {
      if (!kubectl) throw new Error(`expected kubectl on the PATH for "${story.name}", found none`);
      await story.run({ ...world, kubectl });
    },
  }));

export type Spec = VMDiskImage['spec'];

/** Creates an image like an admin would; its object in the store is `images/<name>.qcow2`, or what `spec.url` says. */
export function createImage(
  world: Pick<World, 'kube' | 'namespace' | 'store'>,
  name: string,
  spec: Partial<Spec> = {},
  metadata: object = {},
) {
  return world.kube.create(VMDiskImage, {
    apiVersion: VMDiskImage.apiVersion,
    kind: VMDiskImage.kind,
    metadata: { name, namespace: world.namespace, ...metadata },
    spec: {
      storageClass: 'gp3',
      snapshotClass: 'ebs-snapshot',
      url: `${world.store.url}/images/${name}.qcow2`,
      diskSize: '64Mi',
      ...((spec.sourceType ?? 's3') === 's3' ? { secretRef: 's3-reader' } : {}),
      ...spec,
    },
  });
}

/** Changes keys of the policy; undefined removes one. */
export const setPolicy = ({ kube }: Pick<World, 'kube'>, data: Record<string, string | undefined>) =>
  kube.patch(ConfigMap, policyRef, {
    data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, value ?? null])),
  });

/** Resolves with the object as soon as `isSo` holds (also for its absence); rejects with what it was at last. */
export async function until<T extends KubernetesObject>(
  { kube }: Pick<World, 'kube'>,
  resource: Resource<T>,
  ref: ObjectReference,
  isSo: (object: T | undefined) => boolean,
  withinMs = 60_000,
): Promise<T | undefined> {
  const over = AbortSignal.timeout(withinMs);
  const only = {
    ...(ref.namespace ? { namespace: ref.namespace } : {}),
    fieldSelector: `metadata.name=${ref.name}`,
  };
  for (;;) {
    const again = new AbortController();
    const [page] = await Array.fromAsync(kube.pages(resource, only));
    let found = page?.items[0];
    if (isSo(found)) return found;
    await kube.watch(
      resource,
      { ...only, resourceVersion: page?.resourceVersion ?? '', signal: AbortSignal.any([over, again.signal]) },
      ({ type, object }) => {
        found = type === 'DELETED' ? undefined : object;
        if (isSo(found)) again.abort();
      },
    );
    if (isSo(found)) return found;
    if (over.aborted)
      throw new Error(
        `${resource.kind} ${ref.name} did not get there within ${withinMs} ms; at last: ${formatObject(found)}`,
      );
  }
}

const formatObject = (object: unknown) =>
  object ? JSON.stringify((object as { status?: unknown }).status) : 'not there';

/** An object in the story's namespace. */
export const refIn = ({ namespace }: Pick<World, 'namespace'>, name: string) => ({ namespace, name });

/** The object of that name in the story's namespace, if it exists. */
export const find = <T extends KubernetesObject>(
  world: Pick<World, 'kube' | 'namespace'>,
  resource: Resource<T>,
  name: string,
) => world.kube.get(resource, refIn(world, name));

/** Resolves with the object once it is another than the one with this uid, and `isSo`. */
export async function untilAnother<T extends KubernetesObject>(
  world: Pick<World, 'kube'>,
  resource: Resource<T>,
  ref: ObjectReference,
  uid: string | undefined,
  isSo: (object: T) => boolean = () => true,
): Promise<T> {
  const isAnother = (found: T | undefined) => found !== undefined && found.metadata.uid !== uid && isSo(found);
  return (await until(world, resource, ref, isAnother)) as T;
}

/** Deletes an object and resolves with its successor. */
export async function comesBack<T extends KubernetesObject>(
  world: Pick<World, 'kube'>,
  resource: Resource<T>,
  ref: ObjectReference,
): Promise<T> {
  const before = await world.kube.get(resource, ref);
  if (!before) throw new Error(`expected ${resource.kind} ${ref.name} to be there, found none`);
  await world.kube.delete(resource, ref);
  return untilAnother(world, resource, ref, before.metadata.uid);
}

/** Resolves when the image has that phase, and where a history is kept, when that has it, too. */
export async function untilPhase(
  world: Pick<World, 'kube' | 'namespace'> & Partial<Pick<World, 'history'>>,
  name: string,
  phase: string,
  withinMs?: number,
): Promise<VMDiskImage> {
  const ref = { namespace: world.namespace, name };
  const isThere = (image: VMDiskImage | undefined) => image?.status?.phase === phase;
  const found = (await until(world, VMDiskImage, ref, isThere, withinMs)) as VMDiskImage;
  // What a story asks of the history next has to include what it has just seen.
  await world.history?.caughtUp(found);
  return found;
}

/** Resolves when the object is gone. */
export const untilGone = (world: Pick<World, 'kube'>, resource: Resource, ref: ObjectReference, withinMs?: number) =>
  until(world, resource, ref, (object) => object === undefined, withinMs);
