import { type Holder, holdersOf, leaseName } from '../../../shared/images/slots.ts';
import { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { Lease } from '../../../shared/kinds/coordination/lease.ts';
import { PersistentVolumeClaim } from '../../../shared/kinds/core/persistent-volume-claim.ts';
import { Pod } from '../../../shared/kinds/core/pod.ts';
import { imageUidLabel, VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import { operatorNamespace } from '../../../shared/operator.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import { realClock } from '../clock.ts';
import { follow } from '../eventing/follow.ts';
import { reflect } from '../eventing/reflect.ts';
import { overtakenBy, type WatchedImage, watchImage } from './watched-image.ts';

/** What somebody who watches the objects has seen, brought up to date with every change. */
export interface Watching {
  readonly images: ReadonlyMap<string, WatchedImage>;
  readonly holders: readonly Holder[];
  /** The most of each that were seen at one time. */
  readonly most: Readonly<Record<'slots' | 'importers', number>>;
  /** The names of the images in the order in which they first got a slot. */
  readonly startOrder: readonly string[];
  /** Each time that somebody was let in before another who had waited longer. */
  readonly overtakings: readonly string[];
  /** The names of ready snapshots. */
  readonly snapshots: readonly string[];
  /** What stands beside the images: DataVolumes, claims and importers that are still there, and held slots. */
  leftOver(): string[];
}

export interface WatchOptions {
  kube: Kube;
  namespace: string;
  signal: AbortSignal;
  downloadedBytes(image: VMDiskImage): number;
  /** An image took a step. */
  onStep(image: WatchedImage): void;
  /** Anything changed at all. */
  onChange(): void;
}

/** Watches the images of a namespace and all that is made for them; resolves when every watch is about to begin. */
export async function watchDemo(options: WatchOptions): Promise<Watching> {
  const { kube, namespace, signal, onChange } = options;
  const context = { clock: realClock, signal };
  const [leases, pods, dataVolumes, claims, snapshots] = [
    new Map<string, Lease>(),
    new Map<string, Pod>(),
    new Map<string, DataVolume>(),
    new Map<string, PersistentVolumeClaim>(),
    new Map<string, VolumeSnapshot>(),
  ];
  const holders = () => holdersOf(leases.get(`${operatorNamespace}/${leaseName}`)) ?? [];
  const importers = () =>
    [...pods.values()].filter(
      ({ metadata, status }) => metadata.labels?.[imageUidLabel] !== undefined && status?.phase === 'Running',
    );
  const seen = imagesSeen(options);
  const most = { slots: 0, importers: 0 };
  const changed = () => {
    most.slots = Math.max(most.slots, holders().length);
    most.importers = Math.max(most.importers, new Set(importers().map(uidOf)).size);
    onChange();
  };
  const see = (image: VMDiskImage) => {
    seen.see(image);
    changed();
  };
  await Promise.all([
    follow(kube, Lease, context, leases, changed),
    follow(kube, Pod, context, pods, changed),
    follow(kube, DataVolume, context, dataVolumes, changed),
    follow(kube, PersistentVolumeClaim, context, claims, changed),
    follow(kube, VolumeSnapshot, context, snapshots, changed),
    reflect(kube, VMDiskImage, { namespace }, context, {
      replaced: (images) => images.forEach(see),
      changed: ({ object }) => see(object),
    }),
  ]);
  return {
    images: seen.images,
    startOrder: seen.startOrder,
    overtakings: seen.overtakings,
    get holders() {
      return holders();
    },
    most,
    get snapshots() {
      return [...snapshots.values()].filter(({ status }) => status?.readyToUse).map(({ metadata }) => metadata.name);
    },
    leftOver: () => [
      ...[...dataVolumes.values()].map(({ metadata }) => `DataVolume ${metadata.name}`),
      ...[...claims.values()].map(({ metadata }) => `PersistentVolumeClaim ${metadata.name}`),
      ...[...pods.values()].map(({ metadata }) => `Pod ${metadata.name}`),
      ...holders().map(({ image }) => `slot of ${image}`),
    ],
  };
}

const uidOf = ({ metadata }: Pod) => metadata.labels?.[imageUidLabel];

/** Keeps what every state of every image tells, in the order in which the API server tells it. */
function imagesSeen({ downloadedBytes, onStep }: WatchOptions) {
  const images = new Map<string, WatchedImage>();
  const startOrder: string[] = [];
  const overtakings: string[] = [];
  const begins = (image: WatchedImage, before: WatchedImage | undefined) => {
    if (!startOrder.includes(image.name)) startOrder.push(image.name);
    for (const other of overtakenBy({ ...image, queuedAt: before?.queuedAt ?? image.queuedAt }, [...images.values()]))
      overtakings.push(`${image.name} got its slot before ${other.name}, which had waited longer`);
  };
  return {
    images,
    startOrder,
    overtakings,
    see(object: VMDiskImage) {
      const { name } = object.metadata;
      const before = images.get(name);
      const image = watchImage(before, object, Date.now(), downloadedBytes(object));
      if (image === before) return;
      if (image.phase === 'Syncing' && before?.phase !== 'Syncing') begins(image, before);
      images.set(name, image);
      if (image.phase !== before?.phase) onStep(image);
    },
  };
}
