import { expect } from 'vitest';
import { keepAnnotation } from '../../shared/images/pruning.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { eventsAbout, untilEventAbout } from './events.ts';
import { putImage, syncImage } from './images.ts';
import { createMachine } from './machines.ts';
import { deleteMachine, namesOf, untilCount } from './references.ts';
import { byName, createImage, find, refIn, type Story, setPolicy, untilGone, type World } from './world.ts';

const imageOf = (world: World, name: string) => find(world, VMDiskImage, name);
const keep = (value: string | null) => ({ metadata: { annotations: { [keepAnnotation]: value } } });

/** The image just after its deletion. */
const deletedAs = ({ history }: World, name: string) =>
  history
    .changes()
    .map(({ object }) => object as VMDiskImage)
    .find(({ kind, metadata }) => kind === VMDiskImage.kind && metadata.name === name && metadata.deletionTimestamp);

/** Without an object in the store an image is Failed, and unused, as soon as it has had its slot. */
export const stories = byName<Story>({
  'an unused image is deleted after pruneAfter, with its snapshot, and an Event says why': {
    quick: true,
    smoke: true,
    policy: { prune: 'WhenUnreferenced', pruneAfter: '3s' },
    run: async (world) => {
      await putImage(world, 'unused');
      await createImage(world, 'unused');
      await untilGone(world, VMDiskImage, refIn(world, 'unused'));
      expect(await world.kube.list(VolumeSnapshot, { namespace: world.namespace })).toEqual([]);
      const { metadata, status } = deletedAs(world, 'unused') ?? {};
      const waitedMs = Date.parse(metadata?.deletionTimestamp ?? '') - Date.parse(status?.unreferencedSince ?? '');
      expect(waitedMs).toBeGreaterThanOrEqual(3000);
      const { type, message } = await untilEventAbout(world, 'unused', 'Pruned');
      expect(type).toBe('Normal');
      expect(message).toContain(`since ${status?.unreferencedSince}, longer than the policy's pruneAfter (3s)`);
    },
  },
  'an image that is in use stays, and goes when its last machine has been gone for pruneAfter': {
    policy: { prune: 'WhenUnreferenced', pruneAfter: '1s' },
    run: async (world) => {
      await createMachine(world, 'user', 'used');
      await createImage(world, 'used');
      await createImage(world, 'other');
      await untilCount(world, 'used', 1);
      await untilGone(world, VMDiskImage, refIn(world, 'other'));
      expect((await imageOf(world, 'used'))?.metadata.deletionTimestamp).toBeUndefined();
      await deleteMachine(world, 'user');
      await untilGone(world, VMDiskImage, refIn(world, 'used'));
    },
  },
  'an image that is to be kept stays until that is withdrawn': {
    policy: { prune: 'WhenUnreferenced', pruneAfter: '1s' },
    run: async (world) => {
      const annotations = { [keepAnnotation]: 'the golden one' };
      await createImage(world, 'golden', {}, { annotations });
      await createImage(world, 'other');
      await untilCount(world, 'golden', 0);
      await untilGone(world, VMDiskImage, refIn(world, 'other'));
      expect((await imageOf(world, 'golden'))?.metadata.deletionTimestamp).toBeUndefined();
      await world.kube.patch(VMDiskImage, refIn(world, 'golden'), keep('false'));
      await untilGone(world, VMDiskImage, refIn(world, 'golden'));
    },
  },
  'under DryRun an Event says once what would go, and nothing goes; then the policy is switched on': {
    policy: { prune: 'DryRun', pruneAfter: '1s' },
    run: async (world) => {
      await createImage(world, 'first');
      expect((await untilEventAbout(world, 'first', 'WouldBePruned')).message).toContain('it would be deleted');
      // The function that reports the second has read the first again.
      await createImage(world, 'second');
      await untilEventAbout(world, 'second', 'WouldBePruned');
      expect(await eventsAbout(world, 'first', 'WouldBePruned')).toHaveLength(1);
      for (const name of ['first', 'second'])
        expect((await imageOf(world, name))?.metadata.deletionTimestamp).toBe(undefined);
      await setPolicy(world, { prune: 'WhenUnreferenced' });
      for (const name of ['first', 'second']) await untilGone(world, VMDiskImage, refIn(world, name));
    },
  },
  'under a policy that does not parse nothing goes, until it is mended': {
    policy: { prune: 'DryRun', pruneAfter: '1s' },
    run: async (world) => {
      await createImage(world, 'unused');
      await untilEventAbout(world, 'unused', 'WouldBePruned');
      await setPolicy(world, { prune: 'WhenUnreferenced', pruneAfter: 'soon' });
      await untilEventAbout({ ...world, namespace: 'sync-operator' }, 'sync-operator-policy', 'InvalidPolicy');
      await setPolicy(world, { prune: 'DryRun', pruneAfter: '1s' });
      // The function that reports this one has read all.
      await createImage(world, 'later');
      await untilEventAbout(world, 'later', 'WouldBePruned');
      expect((await imageOf(world, 'unused'))?.metadata.deletionTimestamp).toBeUndefined();
      await setPolicy(world, { prune: 'WhenUnreferenced' });
      await untilGone(world, VMDiskImage, refIn(world, 'unused'));
    },
  },
  'a reference that comes at the last moment saves the image, and no image goes from under its machine': {
    provesPermissions: {},
    policy: { concurrency: '8', pruneAfter: '0s' },
    run: async (world) => {
      const images = namesOf('image', 20);
      const isUsed = (_: string, index: number) => index % 2 === 0;
      for (const name of images) await createImage(world, name);
      for (const name of images) await untilCount(world, name, 0);
      // The machines come first, and are not yet counted.
      await Promise.all(images.filter(isUsed).map((name) => createMachine(world, `on-${name}`, name)));
      await setPolicy(world, { prune: 'WhenUnreferenced' });
      for (const name of images.filter((name, index) => !isUsed(name, index)))
        await untilGone(world, VMDiskImage, refIn(world, name));
      for (const name of images.filter(isUsed)) {
        await untilCount(world, name, 1);
        expect((await imageOf(world, name))?.metadata.deletionTimestamp).toBeUndefined();
      }
    },
  },
  'even with an outdated count a machine saves its image': {
    localOnly: 'a real Broker brings the events of machines',
    policy: { pruneAfter: '0s' },
    local: {
      // No event of a machine arrives, and by the time of an audit the story is over.
      faults: { drop: ({ event }) => String(event.attributes.kind) === VirtualMachine.kind },
      schedules: { sweep: '* * * * * *', audit: '0 0 1 1 *' },
    },
    run: async (world) => {
      for (const name of ['used', 'other']) {
        await syncImage(world, name);
        await untilCount(world, name, 0);
      }
      await createMachine(world, 'user', 'used');
      await setPolicy(world, { prune: 'WhenUnreferenced' });
      await untilGone(world, VMDiskImage, refIn(world, 'other'));
      expect((await imageOf(world, 'used'))?.metadata.deletionTimestamp).toBeUndefined();
    },
  },
});
