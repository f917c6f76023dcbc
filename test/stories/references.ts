import { expect } from 'vitest';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { imageReferenceFinalizer, VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { putImage } from './images.ts';
import { createMachine } from './machines.ts';
import { calm, dropsAllButTimers } from './subscriptions.ts';
import { byName, createImage, type Story, setPolicy, until, untilGone, type World } from './world.ts';

/** Resolves with the image when it reports this many machines. */
export async function untilCount(world: World, name: string, count: number, withinMs?: number): Promise<VMDiskImage> {
  const ref = { namespace: world.namespace, name };
  const isSaid = (image: VMDiskImage | undefined) => image?.status?.references?.count === count;
  return (await until(world, VMDiskImage, ref, isSaid, withinMs)) as VMDiskImage;
}

export const deleteMachine = ({ kube, namespace }: Pick<World, 'kube' | 'namespace'>, name: string) =>
  kube.delete(VirtualMachine, { namespace, name });

/** In which no audit puts right what an event did not bring. */
export const noAudit: NonNullable<Story['local']> = { schedules: { sweep: '* * * * * *', audit: '0 0 1 1 *' } };

/** Nothing is downloaded: who uses an image does not depend on what it holds. */
const paused = { concurrency: '0' };

export const namesOf = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}-${String(index).padStart(4, '0')}`);

/** Every machine comes and goes; the image reports it each time. */
async function comeAndGo(world: World): Promise<void> {
  const { kube, namespace } = world;
  await createImage(world, 'used');
  for (const name of ['a', 'b', 'c']) await createMachine(world, name, 'used');
  const used = await untilCount(world, 'used', 3);
  expect(used.status?.references?.by).toEqual(['a', 'b', 'c'].map((name) => `${namespace}/${name}`));
  expect(used.status?.unreferencedSince).toBeUndefined();
  for (const machine of await kube.list(VirtualMachine, { namespace }))
    expect(machine.metadata.finalizers).toContain(imageReferenceFinalizer);

  // Only the machine that goes is to wake anybody: nothing that was said of the image before.
  await calm(world);
  await deleteMachine(world, 'b');
  const fewer = await untilCount(world, 'used', 2);
  expect(fewer.status?.references?.by).toEqual([`${namespace}/a`, `${namespace}/c`]);
  for (const name of ['a', 'c']) await deleteMachine(world, name);
  const unused = await untilCount(world, 'used', 0);
  expect(unused.status?.references).toEqual({ count: 0, by: [] });
  expect(unused.status?.unreferencedSince).toBeDefined();
  for (const name of ['a', 'b', 'c']) await untilGone(world, VirtualMachine, { namespace, name });
}

export const stories = byName<Story>({
  'an image that no machine ever named reports it once it has come to its end, ready or not': {
    policy: { retryLimit: '0' },
    local: noAudit,
    run: async (world) => {
      await putImage(world, 'ready');
      for (const name of ['ready', 'missing']) await createImage(world, name);
      for (const [name, phase] of [
        ['ready', 'Succeeded'],
        ['missing', 'Failed'],
      ] as const) {
        const { status } = await untilCount(world, name, 0);
        expect(status).toMatchObject({ phase, unreferencedSince: expect.any(String) });
      }
    },
  },
  'an image says who uses it right after every machine that comes or goes, and since when it is unused': {
    provesPermissions: { of: ['count-refs'] },
    quick: true,
    smoke: true,
    policy: paused,
    local: noAudit,
    run: comeAndGo,
  },
  'with every event dropped the audit alone counts, and lets machines go': {
    provesPermissions: { of: ['count-refs'], byTimers: true },
    localOnly: 'a real Broker drops nothing on demand',
    policy: paused,
    local: dropsAllButTimers,
    run: comeAndGo,
  },
  'machines that were there before their image are counted when it comes': {
    policy: paused,
    local: noAudit,
    run: async (world) => {
      for (const name of ['a', 'b']) await createMachine(world, name, 'late');
      await createImage(world, 'late');
      await untilCount(world, 'late', 2);
      for (const name of ['a', 'b']) await deleteMachine(world, name);
      await untilCount(world, 'late', 0);
    },
  },
  'a namespace that is deleted takes its machines out of the count, and is not held up by them': {
    policy: paused,
    run: async (world) => {
      const { kube } = world;
      const class1 = { ...world, namespace: 'class-1' };
      await setPolicy(world, { imageNamespaces: world.namespace });
      await kube.create(Namespace, { metadata: { name: class1.namespace } });
      await createImage(world, 'shared');
      const ref = { name: 'shared', namespace: world.namespace };
      for (const name of namesOf('student', 25)) await createMachine(class1, name, 'shared', { vmDiskImageRef: ref });
      await createMachine(world, 'teacher', 'shared');
      expect((await untilCount(world, 'shared', 26)).status?.references?.by).toHaveLength(20);
      await kube.delete(Namespace, { name: class1.namespace });
      expect((await untilCount(world, 'shared', 1)).status?.references?.by).toEqual([`${world.namespace}/teacher`]);
      await untilGone(world, Namespace, { name: class1.namespace });
    },
  },
  'a machine in a namespace that may not name the image does not count until the policy lets it': {
    provesPermissions: {},
    policy: paused,
    local: noAudit,
    run: async (world) => {
      const { kube } = world;
      const elsewhere = { ...world, namespace: 'elsewhere' };
      await kube.create(Namespace, { metadata: { name: elsewhere.namespace } });
      await createImage(world, 'private');
      const ref = { name: 'private', namespace: world.namespace };
      await createMachine(elsewhere, 'stranger', 'private', { vmDiskImageRef: ref });
      await createMachine(world, 'friend', 'private');
      expect((await untilCount(world, 'private', 1)).status?.references?.by).toEqual([`${world.namespace}/friend`]);
      await setPolicy(world, { imageNamespaces: world.namespace });
      await untilCount(world, 'private', 2);
      await setPolicy(world, { imageNamespaces: undefined });
      await untilCount(world, 'private', 1);
      await kube.delete(Namespace, { name: elsewhere.namespace });
      await untilGone(world, Namespace, { name: elsewhere.namespace });
    },
  },
  'machines that come and go at once are counted in the end as what exists': {
    policy: paused,
    local: noAudit,
    run: async (world) => {
      const images = namesOf('image', 4);
      for (const name of images) await createImage(world, name);
      const machines = namesOf('vm', 60);
      const imageFor = (index: number) => images[index % images.length] ?? '';
      await Promise.all(
        machines.map(async (name, index) => {
          await createMachine(world, name, imageFor(index));
          // Two of three go at once, some before anybody has seen them.
          if (index % 3 !== 0) await deleteMachine(world, name);
        }),
      );
      for (const name of images) {
        const left = machines.filter((_, index) => index % 3 === 0 && imageFor(index) === name);
        const by = left.map((machine) => `${world.namespace}/${machine}`);
        const isSaid = (image: VMDiskImage | undefined) =>
          JSON.stringify(image?.status?.references) === JSON.stringify({ count: left.length, by });
        await until(world, VMDiskImage, { namespace: world.namespace, name }, isSaid);
      }
    },
  },
});

const thousand = 1000;

/** Takes a minute or two. */
export const slowStories = byName<Story>({
  'a thousand machines on one image come and go; its count is exact, and every machine is released': {
    policy: paused,
    simulators: false,
    local: noAudit,
    run: async (world) => {
      const { kube, namespace } = world;
      await createImage(world, 'popular');
      const machines = namesOf('vm', thousand);
      for (let from = 0; from < thousand; from += 20)
        await Promise.all(machines.slice(from, from + 20).map((name) => createMachine(world, name, 'popular')));
      const { status } = await untilCount(world, 'popular', thousand, 120_000);
      expect(status?.references?.by).toEqual(machines.slice(0, 20).map((name) => `${namespace}/${name}`));
      // Each takes a count of all that are left along: of more at once the last would wait too long for its answer.
      for (let from = 0; from < thousand; from += 4)
        await Promise.all(machines.slice(from, from + 4).map((name) => deleteMachine(world, name)));
      await untilCount(world, 'popular', 0, 120_000);
      for (const { metadata } of await kube.list(VirtualMachine, { namespace }))
        await untilGone(world, VirtualMachine, metadata, 60_000);
    },
  },
});
