import { DataVolume } from '../../shared/resources/cdi/data-volume.ts';
import { Lease } from '../../shared/resources/coordination/lease.ts';
import { imageUidLabel, VMDiskImage } from '../../shared/resources/pelotech/vm-disk-image.ts';
import type { KubernetesObject, Resource } from '../../shared/resources/resource.ts';
import { VolumeSnapshot } from '../../shared/resources/snapshot/volume-snapshot.ts';
import { holdersOf, leaseName } from '../../shared/rules/slots.ts';
import type { Kube, WatchEvent } from '../../shared/runtime/kube.ts';

/** One change, as a watch saw it. */
export type Change = WatchEvent<KubernetesObject>;

/** All changes of the kinds a story is about, in the order of their resourceVersions. */
export interface History {
  changes(): Change[];
  /** DataVolumes in the order of their creation, by the image they belong to. */
  starts(): { image: string; name: string }[];
  /** Phases an image went through, repeats left out. */
  phasesOf(name: string): string[];
  /** The most DataVolumes that were there and not Succeeded at one moment. */
  mostAtOnce(): number;
  stop(): Promise<void>;
}

const kinds: readonly Resource[] = [VMDiskImage, DataVolume, VolumeSnapshot, Lease];

/** Records from now on what happens to the objects that matter. */
export async function recordHistory(kube: Kube): Promise<History> {
  const abort = new AbortController();
  const seen: Change[] = [];
  const watches = await Promise.all(
    kinds.map(async (resource) => {
      const [page] = await Array.fromAsync(kube.pages(resource));
      return {
        done: watchOn(kube, resource, page?.resourceVersion ?? '', abort.signal, (change) => seen.push(change)),
      };
    }),
  );
  const changes = () =>
    [...seen].sort((a, b) => Number(a.object.metadata.resourceVersion) - Number(b.object.metadata.resourceVersion));
  return {
    changes,
    starts: () =>
      changes()
        .filter(({ type, object }) => type === 'ADDED' && object.kind === DataVolume.kind)
        .map(({ object }) => ({ image: ownerName(object), name: object.metadata.name })),
    phasesOf: (name) =>
      changes()
        .filter(({ object }) => object.kind === VMDiskImage.kind && object.metadata.name === name)
        .map(({ object }) => (object as VMDiskImage).status?.phase ?? '')
        .filter((phase, index, all) => phase !== '' && phase !== all[index - 1]),
    mostAtOnce: () => mostAtOnce(changes()),
    stop: async () => {
      abort.abort();
      await Promise.all(watches.map(({ done }) => done));
    },
  };
}

/** A watch that brings nothing for a while ends; it goes on where it was. */
async function watchOn(
  kube: Kube,
  resource: Resource,
  from: string,
  signal: AbortSignal,
  onChange: (change: Change) => void,
): Promise<void> {
  let resourceVersion = from;
  while (!signal.aborted) {
    await kube.watch(resource, { resourceVersion, signal }, (change) => {
      resourceVersion = change.object.metadata.resourceVersion;
      onChange(change);
    });
  }
}

const ownerName = ({ metadata }: KubernetesObject) => metadata.ownerReferences?.[0]?.name ?? '';

function mostAtOnce(changes: readonly Change[]): number {
  const active = new Set<string>();
  let most = 0;
  for (const { type, object } of changes) {
    if (object.kind !== DataVolume.kind) continue;
    const isOver = type === 'DELETED' || (object as DataVolume).status?.phase === 'Succeeded';
    if (isOver) active.delete(object.metadata.uid);
    else active.add(object.metadata.uid);
    most = Math.max(most, active.size);
  }
  return most;
}

/** The first breach of what must always hold (reliability invariants S2, S3, S5), or undefined. */
export function breachOf(changes: readonly Change[]): string | undefined {
  let holders: readonly string[] = [];
  const active = new Map<string, string>();
  for (const change of changes) {
    holders = holdersAfter(change) ?? holders;
    const breach = follow(active, change) ?? twice(holders) ?? orphan(active, holders);
    if (breach) return `${breach} at resourceVersion ${change.object.metadata.resourceVersion}`;
  }
  return undefined;
}

const holdersAfter = ({ type, object }: Change) =>
  object.kind === Lease.kind && object.metadata.name === leaseName && type !== 'DELETED'
    ? holdersOf(object as Lease)?.map(({ uid }) => uid)
    : undefined;

/** Keeps the DataVolumes in flight by their images' uids; says where an image has two. */
function follow(active: Map<string, string>, { type, object }: Change): string | undefined {
  if (object.kind !== DataVolume.kind) return undefined;
  const uid = object.metadata.labels?.[imageUidLabel] ?? '';
  const isOver = type === 'DELETED' || (object as DataVolume).status?.phase === 'Succeeded';
  const isSecond = type === 'ADDED' && [...active.values()].includes(uid);
  if (isOver) active.delete(object.metadata.uid);
  else active.set(object.metadata.uid, uid);
  return isSecond ? `S5: a second DataVolume of ${uid}` : undefined;
}

const twice = (holders: readonly string[]) =>
  new Set(holders).size === holders.length ? undefined : 'S3: a uid holds two slots';

function orphan(active: ReadonlyMap<string, string>, holders: readonly string[]) {
  const found = [...active.values()].find((uid) => !holders.includes(uid));
  return found === undefined ? undefined : `S2: a DataVolume in flight of ${found} without a slot`;
}
