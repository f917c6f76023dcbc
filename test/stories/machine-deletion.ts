import { expect } from 'vitest';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import { Pod } from '../../shared/kinds/core/pod.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { diskImageFinalizer, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Resource } from '../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { untilEventAbout } from './events.ts';
import { putImage, syncImage } from './images.ts';
import { createMachine, templateOf, untilMachine } from './machines.ts';
import { deleteMachine, namesOf, noAudit, untilCount } from './references.ts';
import { dropsAllButTimers } from './subscriptions.ts';
import {
  byName,
  refIn,
  type Story,
  setPolicy,
  until,
  untilAnother,
  untilGone,
  untilPhase,
  type World,
  withKubectl,
} from './world.ts';

const deleteImage = (world: World, name: string) => world.kube.delete(VMDiskImage, refIn(world, name));
const heldCondition = (image: VMDiskImage | undefined) => conditionOf(image?.status?.conditions, 'DeletionHeld');

/** Resolves when the image says that machines hold it, in these words. */
const untilHeld = (world: World, name: string, words: string) =>
  until(world, VMDiskImage, refIn(world, name), (image) => {
    const condition = heldCondition(image);
    return condition?.status === 'True' && condition.message.includes(words);
  });

/** An image that is ready to be cloned from, and machines on it that are counted. */
async function inUse(world: World, machines: readonly string[]): Promise<VMDiskImage> {
  const image = await syncImage(world, 'image');
  for (const name of machines) await createMachine(world, name, 'image');
  await untilCount(world, 'image', machines.length);
  return image;
}

/** Waits until nothing of machines and images is left in the namespace. */
async function leavesNothing({ kube, namespace }: Pick<World, 'kube' | 'namespace'>): Promise<void> {
  const kinds: readonly Resource[] = [
    VirtualMachine,
    VMDiskImage,
    VolumeSnapshot,
    DataVolume,
    PersistentVolumeClaim,
    Pod,
  ];
  for (const kind of kinds)
    for (const { metadata } of await kube.list(kind, { namespace })) await untilGone({ kube }, kind, metadata);
}

/** The machines hold their deleted image, its snapshot stays, and both are deleted with the last machine. */
async function imageFirst(world: World): Promise<void> {
  const { status } = await inUse(world, ['a', 'b']);
  const snapshot = refIn(world, status?.snapshot?.name ?? '');
  await deleteImage(world, 'image');
  const { namespace } = world;
  await untilHeld(world, 'image', `used by 2 machines: ${namespace}/a, ${namespace}/b.`);
  expect((await world.kube.get(VolumeSnapshot, snapshot))?.metadata.deletionTimestamp).toBeUndefined();
  await deleteMachine(world, 'a');
  const held = await untilHeld(world, 'image', `used by 1 machine: ${namespace}/b.`);
  expect(conditionOf(held?.status?.conditions, 'Ready')?.status).toBe('True');
  expect((await world.kube.get(VolumeSnapshot, snapshot))?.metadata.deletionTimestamp).toBeUndefined();
  await deleteMachine(world, 'b');
  await untilGone(world, VMDiskImage, refIn(world, 'image'));
  await leavesNothing(world);
}

export const stories: readonly Story[] = [
  ...byName<Story>({
    'the image first: it stays with its snapshot, reports who holds it, and is deleted with the last of them': {
      provesPermissions: {},
      quick: true,
      smoke: true,
      local: noAudit,
      run: async (world) => {
        await imageFirst(world);
        expect(await untilEventAbout(world, 'image', 'DeletionHeld')).toMatchObject({ type: 'Normal' });
      },
    },
    'with every event dropped the audit alone holds an image, and lets it go': {
      localOnly: 'a real Broker drops nothing on demand',
      local: dropsAllButTimers,
      run: imageFirst,
    },
    'the image while a clone of it is delayed: it stays until the machine is Ready, and is deleted with that': {
      simulators: { cdi: { faults: [{ match: 'vm-root', mode: 'cloneError', forMs: 5000 }] } },
      local: noAudit,
      run: async (world) => {
        const { kube, namespace } = world;
        const { metadata, status } = await inUse(world, []);
        await createMachine(world, 'vm', 'image');
        const isBlocked = (disk: DataVolume | undefined) =>
          disk?.status?.conditions.some(({ type, reason }) => type === 'Running' && reason === 'Error') === true;
        await until(world, DataVolume, refIn(world, 'vm-root'), isBlocked);
        await deleteImage(world, 'image');
        expect(isBlocked(await kube.get(DataVolume, refIn(world, 'vm-root')))).toBe(true);
        await untilHeld(world, 'image', `used by 1 machine: ${namespace}/vm.`);
        const ready = await untilMachine(world, 'vm', 'Ready');
        expect(ready.status?.rootDisk?.image).toBe(metadata.uid);
        expect((await untilHeld(world, 'image', `${namespace}/vm.`))?.metadata.uid).toBe(metadata.uid);
        const snapshot = await kube.get(VolumeSnapshot, refIn(world, status?.snapshot?.name ?? ''));
        expect(snapshot?.metadata).toMatchObject({ name: status?.snapshot?.name });
        expect(snapshot?.metadata.deletionTimestamp).toBeUndefined();
        await deleteMachine(world, 'vm');
        await untilGone(world, VMDiskImage, refIn(world, 'image'));
        await leavesNothing(world);
      },
    },
    'the machines first: then nothing holds the image': {
      local: noAudit,
      run: async (world) => {
        await inUse(world, ['a', 'b']);
        for (const name of ['a', 'b']) await deleteMachine(world, name);
        await untilCount(world, 'image', 0);
        await deleteImage(world, 'image');
        await untilGone(world, VMDiskImage, refIn(world, 'image'));
        expect(world.history.changes().some(({ object }) => heldCondition(object as VMDiskImage) !== undefined)).toBe(
          false,
        );
        await leavesNothing(world);
      },
    },
    'both at once: neither waits for the other': {
      local: noAudit,
      run: async (world) => {
        await inUse(world, ['a', 'b', 'c']);
        await Promise.all([deleteImage(world, 'image'), ...['a', 'b', 'c'].map((name) => deleteMachine(world, name))]);
        await untilGone(world, VMDiskImage, refIn(world, 'image'));
        await leavesNothing(world);
      },
    },
    'the namespace of the machines: the image that it held is deleted with it': async (world) => {
      const { kube } = world;
      const class1 = { ...world, namespace: 'class-1' };
      await setPolicy(world, { imageNamespaces: world.namespace });
      await inUse(world, []);
      await kube.create(Namespace, { metadata: { name: class1.namespace } });
      for (const name of namesOf('student', 7))
        await createMachine(class1, name, 'image', { vmDiskImageRef: refIn(world, 'image') });
      await untilCount(world, 'image', 7);
      await deleteImage(world, 'image');
      const five = namesOf('student', 5).map((name) => `class-1/${name}`);
      await untilHeld(world, 'image', `used by 7 machines: ${five.join(', ')} and 2 more.`);
      await kube.delete(Namespace, { name: class1.namespace });
      await untilGone(world, Namespace, { name: class1.namespace });
      await untilGone(world, VMDiskImage, refIn(world, 'image'));
      await leavesNothing(world);
    },
    'the namespace of the image and its machines: all of it goes': async (world) => {
      const { kube } = world;
      const lab = { ...world, namespace: 'whole-lab' };
      const secret = await kube.get(Secret, refIn(world, 's3-reader'));
      await kube.create(Namespace, { metadata: { name: lab.namespace } });
      const data = (secret as { data?: unknown } | undefined)?.data;
      await kube.create(Secret, { metadata: refIn(lab, 's3-reader'), data });
      await inUse(lab, ['a', 'b', 'c']);
      await kube.delete(Namespace, { name: lab.namespace });
      await untilGone(world, Namespace, { name: lab.namespace });
      await leavesNothing(lab);
    },
    'a machine that comes when its image is being deleted holds nothing: it gets the image that is created again':
      async (world) => {
        const { metadata } = await inUse(world, ['old']);
        await deleteImage(world, 'image');
        const held = await untilHeld(world, 'image', `used by 1 machine: ${world.namespace}/old.`);
        // Within the second of the deletion their order is unknown.
        const deletedMs = Date.parse(held?.metadata.deletionTimestamp ?? '');
        for (let tries = 0; ; tries++) {
          const template = { vmDiskImageTemplate: templateOf(world, 'image') };
          const { metadata: made } = await createMachine(world, `new-${tries}`, 'image', template);
          if (Date.parse(made.creationTimestamp) > deletedMs) break;
          await deleteMachine(world, `new-${tries}`);
          await untilGone(world, VirtualMachine, refIn(world, `new-${tries}`));
        }
        await deleteMachine(world, 'old');
        const isSucceeded = ({ status }: VMDiskImage) => status?.phase === 'Succeeded';
        const again = await untilAnother(world, VMDiskImage, refIn(world, 'image'), metadata.uid, isSucceeded);
        expect(again.status?.revision).toBe(1);
        await untilCount(world, 'image', 1);
      },
    'an image that is deleted before it could be cloned is not held: its download ends, and it is created again':
      async (world) => {
        world.store.limitTo(0);
        await putImage(world, 'image');
        await createMachine(world, 'waits', 'image', { vmDiskImageTemplate: templateOf(world, 'image') });
        const { metadata } = await untilPhase(world, 'image', 'Syncing');
        await untilCount(world, 'image', 1);
        await deleteImage(world, 'image');
        await untilAnother(world, VMDiskImage, refIn(world, 'image'), metadata.uid);
        world.store.limitTo(undefined);
        await untilPhase(world, 'image', 'Succeeded');
      },
    'an image whose finalizer is dropped gets it again, and stays for its machines when it is deleted': {
      smoke: true,
      local: noAudit,
      run: async (world) => {
        const { kube, namespace } = world;
        await inUse(world, ['vm']);
        // `kubectl replace` of a manifest without finalizers does this.
        await kube.patch(VMDiskImage, refIn(world, 'image'), { metadata: { finalizers: null } });
        const hasIt = (image: VMDiskImage | undefined) =>
          image?.metadata.finalizers?.includes(diskImageFinalizer) === true;
        await until(world, VMDiskImage, refIn(world, 'image'), hasIt);
        await deleteImage(world, 'image');
        await untilHeld(world, 'image', `used by 1 machine: ${namespace}/vm.`);
        await deleteMachine(world, 'vm');
        await untilGone(world, VMDiskImage, refIn(world, 'image'));
        await leavesNothing(world);
      },
    },
  }),
  ...withKubectl({
    'the image in the foreground, as Argo CD deletes: its snapshot stays for the machines that hold it': {
      smoke: true,
      local: noAudit,
      run: async (world) => {
        const { status } = await inUse(world, ['a']);
        const { namespace } = world;
        const snapshot = refIn(world, status?.snapshot?.name ?? '');
        await world.kubectl('delete', 'vmdi', 'image', '-n', namespace, '--cascade=foreground', '--wait=false');
        await untilHeld(world, 'image', `used by 1 machine: ${namespace}/a.`);
        // Once the garbage collector has removed its own finalizer, it does nothing more for this deletion.
        const isCollected = (image: VMDiskImage | undefined) =>
          image !== undefined && !image.metadata.finalizers?.includes('foregroundDeletion');
        await until(world, VMDiskImage, refIn(world, 'image'), isCollected);
        const kept = await world.kube.get(VolumeSnapshot, snapshot);
        expect(kept).toBeDefined();
        expect(kept?.metadata.deletionTimestamp).toBeUndefined();
        await deleteMachine(world, 'a');
        await untilGone(world, VMDiskImage, refIn(world, 'image'));
        await leavesNothing(world);
      },
    },
  }),
];
