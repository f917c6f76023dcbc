import { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { Event } from '../../../shared/kinds/core/event.ts';
import { PersistentVolumeClaim } from '../../../shared/kinds/core/persistent-volume-claim.ts';
import { Pod } from '../../../shared/kinds/core/pod.ts';
import { Secret } from '../../../shared/kinds/core/secret.ts';
import { KubeVirtMachine } from '../../../shared/kinds/kubevirt/virtual-machine.ts';
import { KubeVirtInstance } from '../../../shared/kinds/kubevirt/virtual-machine-instance.ts';
import { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { imageUidLabel, VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject, Resource } from '../../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import { realClock } from '../clock.ts';
import { follow } from '../eventing/follow.ts';
import { reflect } from '../eventing/reflect.ts';
import { heldMessage } from '../up/held-message.ts';
import { conditions, followKinds } from './act.ts';
import { machineNamespace } from './machines.ts';
import { readyAtMs, type WatchedMachine, watchMachine } from './watched-machine.ts';

/** What somebody who watches machines and their images has seen, brought up to date with every change. */
export interface MachinesWatching {
  /** By name, those that are gone among them. */
  readonly machines: ReadonlyMap<string, WatchedMachine>;
  /** When each object went, by its name. */
  readonly goneAtMs: ReadonlyMap<string, number>;
  /** Those that are there, by name. */
  readonly images: ReadonlyMap<string, VMDiskImage>;
  /** The uids of the images that were made meanwhile, by name: more than one where an image was made twice. */
  readonly made: ReadonlyMap<string, ReadonlySet<string>>;
  /** What the image that is being deleted said of who holds it. */
  readonly held: readonly Held[];
  /** What was done for a machine before its time. */
  readonly tooEarly: readonly string[];
  warningsOf(machine: string): Warning[];
  /** What stands beside the images and these machines and what is theirs. */
  leftOver(staying: readonly string[]): string[];
  /** Resolves once it is so. */
  until(isSo: () => boolean): Promise<void>;
}

export interface Held {
  atMs: number;
  message: string;
}

export interface Warning {
  reason: string;
  message: string;
}

export interface WatchMachinesOptions {
  kube: Kube;
  /** Where the images are. */
  imageNamespace: string;
  signal: AbortSignal;
  onMachine(machine: WatchedMachine): void;
  onImage(image: VMDiskImage): void;
  onGone(name: string): void;
}

/** Watches the machines of the demo, their images and all that is made for both; resolves when every watch is about to begin. */
export async function watchMachines(options: WatchMachinesOptions): Promise<MachinesWatching> {
  const { kube, signal } = options;
  const context = { clock: realClock, signal };
  const { changed, until } = conditions();
  const events = new Map<string, KubernetesObject>();
  const goneAtMs = new Map<string, number>();
  const gone = (name: string) => {
    goneAtMs.set(name, Date.now());
    options.onGone(name);
  };
  const machines = machinesSeen(options);
  const images = imagesSeen(options);
  const [parts] = await Promise.all([
    followKinds(kube, madeKinds, signal, changed),
    follow(kube, Event, context, events, changed),
    reflect(kube, VMDiskImage, { namespace: options.imageNamespace }, context, {
      replaced: (found) => images.know(found),
      changed: ({ type, object }) => {
        if (type === 'DELETED') {
          images.present.delete(object.metadata.name);
          gone(object.metadata.name);
        } else images.see(object);
        changed();
      },
    }),
    reflect(kube, VirtualMachine, { namespace: machineNamespace }, context, {
      replaced: (found) => found.forEach(machines.see),
      changed: ({ type, object }) => {
        if (type === 'DELETED') gone(object.metadata.name);
        else machines.see(object);
        changed();
      },
    }),
  ]);
  return {
    machines: machines.machines,
    goneAtMs,
    images: images.present,
    made: images.made,
    held: images.held,
    tooEarly: machines.tooEarly,
    warningsOf: (machine) => [...events.values()].map(toldOf).filter((told) => isWarningOf(told, machine)),
    leftOver: (staying) => [
      ...[...parts].flatMap(([{ kind }, objects]) =>
        [...objects.values()]
          .filter((object) => isOdd(object, images.present, staying))
          .map(({ metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`),
      ),
    ],
    until,
  };
}

const madeKinds: readonly Resource[] = [
  DataVolume,
  PersistentVolumeClaim,
  Pod,
  Secret,
  KubeVirtMachine,
  KubeVirtInstance,
  VolumeSnapshot,
];

/** It is neither the snapshot of an image that is there, nor part of a machine that stays, nor what the admin put there. */
function isOdd(
  { kind, metadata }: KubernetesObject,
  images: ReadonlyMap<string, VMDiskImage>,
  staying: readonly string[],
) {
  const { name, namespace } = metadata;
  if (kind === VolumeSnapshot.kind) {
    return ![...images.values()].some((image) => image.metadata.uid === metadata.labels?.[imageUidLabel]);
  }
  if (namespace !== machineNamespace) return kind !== Secret.kind;
  return !staying.some(
    (machine) =>
      name === machine ||
      name === `${machine}-root` ||
      name === `${machine}-cloud-init` ||
      name.startsWith(`virt-launcher-${machine}-`),
  );
}

interface Told extends Warning {
  type: string;
  involvedObject: { apiVersion: string; name: string };
}

const toldOf = (event: KubernetesObject) => event as unknown as Told;

const isWarningOf = ({ type, involvedObject }: Told, machine: string) =>
  type === 'Warning' && involvedObject.apiVersion === VirtualMachine.apiVersion && involvedObject.name === machine;

/** Keeps what every state of every machine tells, and whether its disk was there when it was said to be Ready. */
function machinesSeen({ kube, onMachine }: WatchMachinesOptions) {
  const machines = new Map<string, WatchedMachine>();
  const tooEarly: string[] = [];
  const checkDisk = async (name: string) => {
    const disk = await kube.get(DataVolume, { namespace: machineNamespace, name: `${name}-root` });
    if (disk?.status?.phase !== 'Succeeded')
      tooEarly.push(`${name} was Ready while its disk was ${disk?.status?.phase ?? 'not there'}`);
  };
  return {
    machines,
    tooEarly,
    see(object: VirtualMachine) {
      const { name } = object.metadata;
      const before = machines.get(name);
      const machine = watchMachine(before, object, Date.now());
      if (machine === before) return;
      machines.set(name, machine);
      if (readyAtMs(machine) !== undefined && (!before || readyAtMs(before) === undefined))
        void checkDisk(name).catch(() => {});
      if (machine.steps.length !== before?.steps.length || machine.isTerminating !== before.isTerminating)
        onMachine(machine);
    },
  };
}

/** Keeps the images that are there, those that were made, and what the one that is being deleted says. */
function imagesSeen({ onImage }: WatchMachinesOptions) {
  const present = new Map<string, VMDiskImage>();
  const known = new Set<string>();
  const made = new Map<string, Set<string>>();
  const held: Held[] = [];
  return {
    present,
    made,
    held,
    know(images: readonly VMDiskImage[]) {
      for (const image of images) {
        known.add(image.metadata.uid);
        present.set(image.metadata.name, image);
      }
    },
    see(image: VMDiskImage) {
      const { name, uid } = image.metadata;
      const before = present.get(name);
      present.set(name, image);
      if (!known.has(uid)) made.set(name, (made.get(name) ?? new Set()).add(uid));
      const message = heldMessage(image);
      if (message !== undefined && held.at(-1)?.message !== message) held.push({ atMs: Date.now(), message });
      if (!before || standOf(before) !== standOf(image)) onImage(image);
    },
  };
}

const standOf = (image: VMDiskImage) =>
  [image.metadata.uid, image.metadata.deletionTimestamp, image.status?.phase, heldMessage(image)].join();
