import { imageNameOf } from '../../../shared/images/children.ts';
import { holdersOf, leaseRef } from '../../../shared/images/slots.ts';
import { Lease } from '../../../shared/kinds/coordination/lease.ts';
import { Pod } from '../../../shared/kinds/core/pod.ts';
import { imageUidLabel, VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Resource } from '../../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { applyManifests } from '../../manifests.ts';
import { type Act, type Stage, secondsBetween } from './act.ts';
import { brokenLink, type DemoImage, manifestOf } from './images.ts';
import { madeForDownloads } from './made-kinds.ts';
import { type DemoWorld, demoPolicy, where } from './set-up.ts';
import { type Step, stateOf, watchOf } from './watcher.ts';

/** The first act: images are downloaded one after another, again after a broken connection, and never again after a 404. */
export function playImages({ images, store, cluster: { kube } }: DemoWorld, stage: Stage) {
  const { seen } = stage;
  const imageRef = (name: string) => ({ namespace: where.namespace, name });
  const imageOf = (name: string) => seen.one(VMDiskImage, imageRef(name));
  const downloaded = ({ bucket, key }: DemoImage) => store.bytesSent(`${bucket}/${key}`);
  const holders = () => holdersOf(seen.one(Lease, leaseRef)?.object) ?? [];
  const snapshotted = () =>
    seen.all(VolumeSnapshot).flatMap(({ metadata, status }) => (status?.readyToUse ? imageNameOf(metadata.name) : []));
  /** What stands beside the images: DataVolumes, claims and importers that are still there, and held slots. */
  const leftOver = () => [...seen.names(madeForDownloads), ...holders().map(({ image }) => `slot of ${image}`)];
  /** The most that were seen at one time. */
  const most = { slots: 0, importers: 0 };
  const count = () => {
    const importers = seen
      .all(Pod)
      .filter(({ metadata, status }) => metadata.labels?.[imageUidLabel] && status?.phase === 'Running');
    most.slots = Math.max(most.slots, holders().length);
    most.importers = Math.max(
      most.importers,
      new Set(importers.map(({ metadata }) => metadata.labels?.[imageUidLabel])).size,
    );
  };
  const startOrder = new Set<string>();
  const overtakings: string[] = [];
  /** How much of its object had been downloaded when an image got its slot. */
  const sentBefore = new Map<string, number>();

  const slotViews = () =>
    Array.from({ length: Math.max(demoPolicy.concurrency, holders().length) }, (_, index) => {
      const holder = holders()[index];
      const image = images.find(({ name }) => name === holder?.image.split('/')[1]);
      return (
        holder &&
        image && {
          name: image.name,
          attempt: holder.attempt,
          downloadedBytes: downloaded(image) - (sentBefore.get(image.name) ?? downloaded(image)),
          neededBytes: image.content?.length ?? 0,
        }
      );
    });
  const imageResult = (image: DemoImage) => {
    const { name, content, expected } = image;
    const { object, steps = [] } = imageOf(name) ?? {};
    const bytesDownloaded = downloaded(image);
    const bytesNeeded = content?.length ?? 0;
    return {
      name,
      phase: object?.status?.phase ?? '',
      expected,
      attempts: object?.status?.attempts ?? 0,
      waitedSeconds: waitedMs(steps, Date.now()) / 1000,
      bytesDownloaded,
      /** How large its object is; 0 where it is missing. */
      bytesNeeded,
      /** Null where nothing is needed. */
      ratio: bytesNeeded > 0 ? bytesDownloaded / bytesNeeded : null,
      hasSnapshot: snapshotted().includes(name),
      reason: conditionOf(object?.status?.conditions, 'Ready')?.reason ?? '',
      message: object?.status?.message ?? '',
      steps: steps.map(({ phase, atMs }) => ({ phase, atSeconds: secondsBetween(stage.startedMs, atMs) })),
    };
  };

  return {
    watches: [
      ...[Lease, ...madeForDownloads].map((kind) => watchOf({ kind: kind as Resource, saw: count })),
      watchOf({ kind: VolumeSnapshot }),
      watchOf({
        kind: VMDiskImage,
        state: stateOf,
        shown: (image) => ({ phase: image.status?.phase ?? '', remark: remarkOn(image, seen.all(VMDiskImage)) }),
        saw: (image, before) => {
          const { name } = image.metadata;
          if (isHealed(image)) store.faults.splice(0);
          if (image.status?.phase !== 'Syncing' || before?.status?.phase === 'Syncing') return;
          startOrder.add(name);
          sentBefore.set(name, store.bytesSent(image.spec.url));
          for (const other of overtakenBy(before ?? image, seen.all(VMDiskImage)))
            overtakings.push(`${name} got its slot before ${other.metadata.name}, which had waited longer`);
        },
      }),
    ],
    async play() {
      stage.command('kubectl apply -f images.yaml');
      const manifests = images.map((image) => manifestOf(image, { ...where, storeUrl: store.url }));
      await applyManifests(kube, manifests);
      await seen.until(() => images.every(({ name }) => isAtRest(imageOf(name)?.object)) && leftOver().length === 0);
    },
    view: () => ({
      /** One for each slot; undefined is free. The bytes are those of this attempt. */
      slots: slotViews(),
      images: images.map((image) => ({
        ...imageResult(image),
        remark: seen.shown(VMDiskImage, imageRef(image.name))?.remark ?? '',
      })),
    }),
    result() {
      const results = images.map(imageResult);
      const sum = (field: 'bytesDownloaded' | 'bytesNeeded') =>
        results.reduce((total, image) => total + image[field], 0);
      return {
        policy: demoPolicy,
        most,
        /** The images in the order in which they first got a slot. */
        startOrder: [...startOrder],
        overtakings,
        leftOver: leftOver(),
        bytesDownloaded: sum('bytesDownloaded'),
        bytesNeeded: sum('bytesNeeded'),
        images: results,
      };
    },
  } satisfies Act<unknown, unknown>;
}

/** Attempts are counted, not downloads: an importer that fails begins again at once, until its attempt is cleared away. */
const isHealed = ({ metadata, status }: VMDiskImage) =>
  metadata.name === brokenLink.name && status?.phase === 'Queued' && (status.attempts ?? 0) >= brokenLink.failures;

export const isAtRest = (image: VMDiskImage | undefined) =>
  ['Succeeded', 'Failed'].includes(image?.status?.phase ?? '');

/** How long it has stood in the queue, all its attempts together; the pause before a retry is no queue. */
export const waitedMs = (steps: readonly Step[], nowMs: number): number =>
  steps.reduce(
    (sum, { phase, atMs }, index) =>
      phase === '' || phase === 'Queued' ? sum + (steps[index + 1]?.atMs ?? nowMs) - atMs : sum,
    0,
  );

const queuedAtOf = ({ status }: VMDiskImage) => status?.queuedAt ?? '';

/** The images in the queue, the one that waited longest first. */
export const queueOf = (images: readonly VMDiskImage[]) =>
  images
    .filter(({ status }) => status?.phase === 'Queued')
    .sort((a, b) => queuedAtOf(a).localeCompare(queuedAtOf(b)) || a.metadata.uid.localeCompare(b.metadata.uid));

/** Those in the queue that had waited longer than the one that just leaves it, `leaving` as it was before. */
export function overtakenBy(leaving: VMDiskImage, images: readonly VMDiskImage[]): VMDiskImage[] {
  const isLeaving = ({ metadata }: VMDiskImage) => metadata.uid === leaving.metadata.uid;
  const asQueued = { ...leaving, status: { ...leaving.status, phase: 'Queued' as const } };
  const queue = queueOf([...images.filter((image) => !isLeaving(image)), asQueued]);
  return queue.slice(0, queue.findIndex(isLeaving));
}

/** What there is to say of an image beyond its phase, in a few words. */
function remarkOn({ metadata, status }: VMDiskImage, all: readonly VMDiskImage[]): string {
  switch (status?.phase) {
    case undefined:
      return 'applied';
    case 'Queued':
      return `place ${queueOf(all).findIndex((image) => image.metadata.uid === metadata.uid) + 1} in the queue`;
    case 'Syncing':
      return `attempt ${status.attempts ?? 0}`;
    case 'Snapshotting':
      return 'downloaded';
    case 'Succeeded':
      return 'ready to clone';
    case 'Failed':
      return conditionOf(status.conditions, 'Ready')?.reason ?? '';
    default:
      return status?.message ?? '';
  }
}
