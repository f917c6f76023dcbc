import { setTimeout as sleep } from 'node:timers/promises';
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
  /** Downloads in the order of their beginning, by the image they belong to. */
  starts(): { image: string; name: string }[];
  /** Phases an image went through, repeats left out. */
  phasesOf(name: string): string[];
  /** Resolves when this record has got as far as that object: another watch may have told of it first. */
  caughtUp(object: KubernetesObject): Promise<void>;
  /** The most downloads that were there and not Succeeded at one moment. */
  mostAtOnce(): number;
  stop(): Promise<void>;
}

const kinds: readonly Resource[] = [VMDiskImage, DataVolume, VolumeSnapshot, Lease];

/** Records from now on what happens to the objects that matter. */
export async function recordHistory(kube: Kube): Promise<History> {
  const abort = new AbortController();
  const seen: Change[] = [];
  const newest = new Map<string, number>();
  const waiting = new Set<() => void>();
  const hasSeen = ({ metadata }: KubernetesObject) =>
    (newest.get(metadata.uid) ?? 0) >= Number(metadata.resourceVersion);
  const learn = ({ metadata }: KubernetesObject) => newest.set(metadata.uid, Number(metadata.resourceVersion));
  const watches = await Promise.all(
    kinds.map(async (resource) => {
      const known = new Map<string, KubernetesObject>();
      const resourceVersion = await lookAround(kube, resource, known);
      for (const object of known.values()) learn(object);
      const note = (change: Change) => {
        learn(change.object);
        const { uid } = change.object.metadata;
        if (change.type === 'DELETED') known.delete(uid);
        else known.set(uid, change.object);
        seen.push(change);
        for (const look of waiting) look();
      };
      return { done: watchOn({ kube, resource, known, note, signal: abort.signal }, resourceVersion) };
    }),
  );
  const changes = () =>
    [...seen].sort((a, b) => Number(a.object.metadata.resourceVersion) - Number(b.object.metadata.resourceVersion));
  return {
    changes,
    starts: () =>
      changes()
        .filter(({ type, object }) => type === 'ADDED' && isDownload(object))
        .map(({ object }) => ({ image: ownerName(object), name: object.metadata.name })),
    phasesOf: (name) =>
      changes()
        .filter(({ object }) => object.kind === VMDiskImage.kind && object.metadata.name === name)
        .map(({ object }) => (object as VMDiskImage).status?.phase ?? '')
        .filter((phase, index, all) => phase !== '' && phase !== all[index - 1]),
    mostAtOnce: () => mostAtOnce(changes()),
    caughtUp: (object) =>
      new Promise((resolve) => {
        const look = () => {
          if (!hasSeen(object)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    stop: async () => {
      abort.abort();
      await Promise.all(watches.map(({ done }) => done));
    },
  };
}

interface Watching {
  kube: Kube;
  resource: Resource;
  /** The objects as they were seen last, by uid. */
  known: ReadonlyMap<string, KubernetesObject>;
  note(change: Change): void;
  signal: AbortSignal;
}

/** Notes what there is without calling it a change; returns the resourceVersion from which a watch goes on. */
async function lookAround(kube: Kube, resource: Resource, known: Map<string, KubernetesObject>): Promise<string> {
  let found = '';
  for await (const { items, resourceVersion } of kube.pages(resource)) {
    for (const object of items) known.set(object.metadata.uid, object);
    found = resourceVersion;
  }
  return found;
}

/**
 * Watches until the signal, whatever the API server goes through: a watch that brings nothing for a while ends and goes on
 * where it was; after one that broke, the changes in between are those between two lists.
 */
async function watchOn(watching: Watching, from: string): Promise<void> {
  const { kube, resource, note, signal } = watching;
  let resourceVersion = from;
  while (!signal.aborted) {
    try {
      await kube.watch(resource, { resourceVersion, signal }, (change) => {
        resourceVersion = change.object.metadata.resourceVersion;
        note(change);
      });
    } catch {
      resourceVersion = await catchUp(watching);
    }
  }
}

/** Notes what changed while nobody watched; asks until the API server answers, or the signal. */
async function catchUp({ kube, resource, known, note, signal }: Watching): Promise<string> {
  while (!signal.aborted) {
    const now = new Map<string, KubernetesObject>();
    try {
      const resourceVersion = await lookAround(kube, resource, now);
      for (const object of known.values()) if (!now.has(object.metadata.uid)) note({ type: 'DELETED', object });
      for (const object of now.values()) {
        const before = known.get(object.metadata.uid)?.metadata.resourceVersion;
        if (before !== object.metadata.resourceVersion) note({ type: before ? 'MODIFIED' : 'ADDED', object });
      }
      return resourceVersion;
    } catch {
      await sleep(100);
    }
  }
  return '';
}

const ownerName = ({ metadata }: KubernetesObject) => metadata.ownerReferences?.[0]?.name ?? '';

/** An attempt of an image; a machine's root disk is a clone, which needs no slot. */
const isDownload = ({ kind, metadata }: KubernetesObject) =>
  kind === DataVolume.kind && metadata.labels?.[imageUidLabel] !== undefined;

function mostAtOnce(changes: readonly Change[]): number {
  const active = new Set<string>();
  let most = 0;
  for (const { type, object } of changes) {
    if (!isDownload(object)) continue;
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
  if (!isDownload(object)) return undefined;
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
