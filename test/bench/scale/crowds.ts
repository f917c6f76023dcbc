import { snapshotFor } from '../../../functions/follow-sync/snapshot/snapshot.ts';
import type { ChangeVerb } from '../../../shared/function.ts';
import { Namespace } from '../../../shared/kinds/core/namespace.ts';
import { imageReferenceFinalizer, VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { diskImageFinalizer, VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../../shared/kinds/pelotech/workspace.ts';
import type { ObjectReference, Resource } from '../../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import { mapConcurrently } from '../../../shared/runtime/concurrency.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import { namespaceOf } from '../../../shared/workspaces/workspace.ts';
import { aVMDiskImage } from '../../support/builders/images.ts';
import { statusOf } from '../finished-images.ts';

/** What a function is sent: an event about an object, or a fact about an image. */
export type Sent = ({ about: Resource; verb?: ChangeVerb } | { fact: string }) & {
  ref: ObjectReference;
  /** The functions that it costs more beside more objects, because it concerns all of them (DECISIONS.md, "Images and slots"). */
  grows?: readonly string[];
};

/** Objects of one kind, and an event about one of them. */
export interface Crowd {
  beside: string;
  counts: readonly number[];
  /** Makes those from number `from` to `to`. */
  make(kube: Kube, from: number, to: number): Promise<void>;
  events: Readonly<Record<string, Sent>>;
}

const farm = 'vmdi-farm';
const lab = 'lab';
/** The namespaces of all crowds. */
export const places: readonly string[] = [farm, lab];
const status = { subresource: 'status' } as const;
const nameOf = (what: string, index: number) => `${what}-${String(index).padStart(5, '0')}`;

const many = (from: number, to: number, make: (index: number) => Promise<unknown>) =>
  mapConcurrently(
    Array.from({ length: to - from }, (_, at) => from + at),
    32,
    make,
  );

const createImage = (kube: Kube, name: string) =>
  kube.create(VMDiskImage, {
    metadata: { name, namespace: farm, finalizers: [diskImageFinalizer] },
    spec: aVMDiskImage({ name, spec: { diskSize: '64Mi' } }).spec,
  });

const patchImage = (kube: Kube, name: string, of: object) =>
  kube.patch(VMDiskImage, { namespace: farm, name }, { status: of }, status);

async function createFinished(kube: Kube, name: string, users?: number) {
  const image = await createImage(kube, name);
  const { unreferencedSince, references, ...common } = statusOf(image);
  await patchImage(kube, name, users ? common : { ...common, references, unreferencedSince });
  const { metadata } = await kube.create(VolumeSnapshot, snapshotFor(image, 1, name));
  await kube.patch(VolumeSnapshot, metadata, { status: { readyToUse: true, restoreSize: '64Mi' } }, status);
}

async function createQueued(kube: Kube, name: string) {
  const image = await createImage(kube, name);
  const { queuedAt, contentDigest, revision } = statusOf(image);
  await patchImage(kube, name, { phase: 'Queued', message: 'Waiting.', queuedAt, contentDigest, revision });
}

const onImage = (name: string) => ({ namespace: farm, name });

const queued: Crowd = {
  beside: 'queued images',
  counts: [10, 1000, 5000],
  make: async (kube, from, to) => void (await many(from, to, (index) => createQueued(kube, nameOf('queued', index)))),
  events: {
    'change of an image': { about: VMDiskImage, ref: onImage(nameOf('queued', 9)) },
    'fact that it is unsettled': { fact: 'unsettled', ref: onImage(nameOf('queued', 9)) },
  },
};

const finished: Crowd = {
  beside: 'finished images',
  counts: [10, 1000, 10_000],
  make: async (kube, from, to) => void (await many(from, to, (index) => createFinished(kube, nameOf('done', index)))),
  events: {
    'change of an image': { about: VMDiskImage, ref: onImage(nameOf('done', 9)) },
    'fact that it is unsettled': { fact: 'unsettled', ref: onImage(nameOf('done', 9)) },
    'fact about an image': { fact: 'succeeded', ref: onImage(nameOf('done', 9)) },
    'fact that it may be deleted': { fact: 'prunable', ref: onImage(nameOf('done', 9)) },
  },
};

interface MachinesOf {
  beside: string;
  made: string;
  image(kube: Kube, name: string): Promise<unknown>;
  fact: string;
}

const machinesOf = ({ beside, made, image, fact }: MachinesOf): Crowd => ({
  beside,
  counts: [10, 1000, 5000],
  async make(kube, from, to) {
    if (from === 0) await image(kube, made);
    await many(from, to, (index) =>
      kube.create(VirtualMachine, {
        metadata: { name: nameOf(made, index), namespace: lab, finalizers: [imageReferenceFinalizer] },
        spec: {
          resources: { cpu: '2', memory: '2Gi' },
          vmDiskImageRef: onImage(made),
          mode: 'FailIfNotExist',
          users: [{ name: 'student', ssh_authorized_keys: ['x'.repeat(700)] }],
        },
      }),
    );
  },
  events: {
    'change of a machine': { about: VirtualMachine, ref: { namespace: lab, name: nameOf(made, 9) } },
    'creation of a machine': { about: VirtualMachine, verb: 'add', ref: { namespace: lab, name: nameOf(made, 9) } },
    'fact about their image': { fact, ref: onImage(made), grows: ['provision-vm', 'ensure-vmdi'] },
  },
});

const waiting = machinesOf({
  ...{ beside: 'machines that wait for one image', made: 'waits' },
  ...{ image: createQueued, fact: 'queued' },
});
const running = machinesOf({
  ...{ beside: 'machines of one image', made: 'runs' },
  ...{ image: (kube, name) => createFinished(kube, name, 1), fact: 'succeeded' },
});

const workspaceName = (index: number) => nameOf('team', index);
const inWorkspace = { namespace: namespaceOf(workspaceName(5)), name: 'vm-0' };

const workspaces: Crowd = {
  beside: 'workspaces of 5 machines',
  counts: [10, 200],
  async make(kube, from, to) {
    if (from === 0) {
      await createFinished(kube, 'shared', 1);
      await createFinished(kube, 'rare', 1);
    }
    const vmsOn = (last: string) =>
      Array.from({ length: 5 }, (_, vm) => ({
        name: `vm-${vm}`,
        backingVMDiskImage: vm === 4 ? last : 'shared',
        resources: { cpu: '2', memory: '2Gi' },
      }));
    await many(from, to, (index) =>
      kube.create(Workspace, {
        metadata: { name: workspaceName(index) },
        spec: { vms: vmsOn(index === 5 ? 'rare' : 'shared') },
      }),
    );
  },
  events: {
    'change of a workspace': { about: Workspace, ref: { name: workspaceName(5) } },
    'change of a machine': { about: VirtualMachine, ref: inWorkspace },
    'fact about an image of one workspace': { fact: 'succeeded', ref: onImage('rare') },
  },
};

export const crowds: Readonly<Record<string, Crowd>> = { queued, finished, waiting, running, workspaces };

/** The namespace of all crowds. */
export async function makePlace(kube: Kube): Promise<void> {
  for (const name of places) {
    const found = await kube.get(Namespace, { name });
    if (!found) await kube.create(Namespace, { metadata: { name } });
  }
}
