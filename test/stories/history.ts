import { setTimeout as sleep } from 'node:timers/promises';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import { Pod } from '../../shared/kinds/core/pod.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { imageUidLabel, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import type { KubernetesObject, Resource } from '../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import type { Kube, ListOptions, WatchEvent } from '../../shared/runtime/kube.ts';
import type { History as Evidence, Gap, Change as Recorded } from '../proofs/invariants/history.ts';

export type Change = WatchEvent<KubernetesObject>;

/** What happens to the objects of a story, in the order of their resourceVersions. */
export interface History {
  /** The changes of images and of what downloads and snapshots them; machines are not among them, for theirs are passwords. */
  changes(): Change[];
  /** Downloads in the order of their beginning, by the image they belong to. */
  starts(): { image: string; name: string }[];
  /** Phases an image went through, repeats left out. */
  phasesOf(name: string): string[];
  /** Resolves when this record has reached that object: another watch may have seen it first. */
  caughtUp(object: KubernetesObject): Promise<void>;
  /** The most downloads that were there and not Succeeded at one moment. */
  mostAtOnce(): number;
  /** All that happened up to now, to be judged by the invariants: as soon as every watch has got as far. */
  evidence(): Promise<Evidence>;
  stop(): Promise<void>;
}

/** A kind that is recorded, and which of its objects. */
interface Recording {
  resource: Resource;
  only: ListOptions;
}

const own = { namespace: operatorNamespace };
const recordings: readonly Recording[] = [
  { resource: VMDiskImage, only: {} },
  { resource: DataVolume, only: {} },
  { resource: VolumeSnapshot, only: {} },
  { resource: Lease, only: own },
  { resource: VirtualMachine, only: {} },
  { resource: Workspace, only: {} },
  { resource: PersistentVolumeClaim, only: {} },
  { resource: Pod, only: { labelSelector: imageUidLabel } },
  { resource: ConfigMap, only: own },
];

/** What stories look at themselves. */
const told: ReadonlySet<string> = new Set([VMDiskImage, DataVolume, VolumeSnapshot, Lease].map(({ kind }) => kind));

/** So long a watch may lag behind a list at most. */
const catchUpWithinMs = 30_000;

/** Records from now on what happens to the objects that matter. */
export async function recordHistory(kube: Kube): Promise<History> {
  const abort = new AbortController();
  const seen: Recorded[] = [];
  const before: KubernetesObject[] = [];
  const gaps: Gap[] = [];
  const newest = new Map<string, number>();
  const waiting = new Set<() => void>();
  const hasSeen = ({ metadata }: KubernetesObject) => (newest.get(metadata.uid) ?? 0) >= versionOf({ metadata });
  const learn = ({ metadata }: KubernetesObject) => newest.set(metadata.uid, versionOf({ metadata }));
  const watches = await Promise.all(
    recordings.map(async (recording) => {
      const known = new Map<string, KubernetesObject>();
      const resourceVersion = await lookAround(kube, recording, known);
      for (const object of known.values()) {
        learn(object);
        before.push(object);
      }
      const note = (change: Change) => {
        learn(change.object);
        const { uid } = change.object.metadata;
        if (change.type === 'DELETED') known.delete(uid);
        else known.set(uid, change.object);
        seen.push({ ...change, atMs: Date.now() });
        for (const look of waiting) look();
      };
      const watching = { kube, recording, known, note, gaps, signal: abort.signal };
      return { recording, known, done: watchOn(watching, resourceVersion) };
    }),
  );
  const when = (isSo: () => boolean, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (!isSo()) return;
        waiting.delete(look);
        resolve();
      };
      signal?.addEventListener('abort', () => reject(signal.reason));
      waiting.add(look);
      look();
    });
  const inOrder = () => seen.toSorted((a, b) => versionOf(a.object) - versionOf(b.object));
  const changes = () => inOrder().filter(({ object }) => told.has(object.kind));
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
    caughtUp: (object) => when(() => hasSeen(object)),
    evidence: async () => {
      const late = AbortSignal.timeout(catchUpWithinMs);
      const reached = await Promise.all(
        watches.map(async ({ recording, known }) => {
          const there = new Map<string, KubernetesObject>();
          const listed = Number(await lookAround(kube, recording, there));
          const isGone = (object: KubernetesObject) => !there.has(object.metadata.uid) && versionOf(object) <= listed;
          await when(() => [...there.values()].every(hasSeen) && ![...known.values()].some(isGone), late).catch(() => {
            throw new Error(`the watch of ${recording.resource.kind} is ${catchUpWithinMs} ms behind`);
          });
          return listed;
        }),
      );
      // Of what came later some watches may have told and others not.
      const until = Math.min(...reached);
      const all = inOrder().filter(({ object }) => versionOf(object) <= until);
      return { before, changes: all, gaps, endMs: Date.now() };
    },
    stop: async () => {
      abort.abort();
      await Promise.all(watches.map(({ done }) => done));
    },
  };
}

const versionOf = ({ metadata }: Pick<KubernetesObject, 'metadata'>) => Number(metadata.resourceVersion);

interface Watching {
  kube: Kube;
  recording: Recording;
  /** The objects as they were seen last, by uid. */
  known: ReadonlyMap<string, KubernetesObject>;
  note(change: Change): void;
  /** Where changes were missed. */
  gaps: Gap[];
  signal: AbortSignal;
}

/** Notes what exists without calling it a change; returns the resourceVersion from which a watch continues. */
async function lookAround(
  kube: Kube,
  { resource, only }: Recording,
  known: Map<string, KubernetesObject>,
): Promise<string> {
  let found = '';
  for await (const { items, resourceVersion } of kube.pages(resource, only)) {
    for (const object of items) known.set(object.metadata.uid, object);
    found = resourceVersion;
  }
  return found;
}

/**
 * Watches until the signal, whatever the API server goes through: a watch that brings nothing for a while ends and continues
 * where it was; after a broken watch, the changes are the differences between two lists.
 */
async function watchOn(watching: Watching, from: string): Promise<void> {
  const { kube, recording, note, gaps, signal } = watching;
  let resourceVersion = from;
  while (!signal.aborted) {
    try {
      await kube.watch(recording.resource, { ...recording.only, resourceVersion, signal }, (change) => {
        resourceVersion = change.object.metadata.resourceVersion;
        note(change);
      });
    } catch {
      const after = Number(resourceVersion);
      resourceVersion = await catchUp(watching);
      gaps.push({ after, until: Number(resourceVersion) });
    }
  }
}

/** Notes what changed between watches; asks until the API server answers, or the signal. */
async function catchUp({ kube, recording, known, note, signal }: Watching): Promise<string> {
  while (!signal.aborted) {
    const now = new Map<string, KubernetesObject>();
    try {
      const resourceVersion = await lookAround(kube, recording, now);
      for (const object of known.values()) {
        if (now.has(object.metadata.uid)) continue;
        note({ type: 'DELETED', object: { ...object, metadata: { ...object.metadata, resourceVersion } } });
      }
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
