import { expect } from 'vitest';
import { DataSource } from '../../shared/kinds/cdi/data-source.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { useRevision, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { putImage, requestSync, syncImage } from './images.ts';
import {
  byName,
  createImage,
  refIn,
  type Story,
  setPolicy,
  until,
  untilGone,
  untilPhase,
  type World,
} from './world.ts';

const isAt = (revision: number) => (image: VMDiskImage | undefined) =>
  image?.status?.phase === 'Succeeded' && image.status.snapshot?.revision === revision;

const untilRevision = async (world: World, name: string, revision: number) =>
  (await until(world, VMDiskImage, refIn(world, name), isAt(revision))) as VMDiskImage;

export const stories = byName<Story>({
  'a requested sync downloads again; the last snapshot stays usable until the new one is ready, then goes': {
    provesPermissions: {},
    quick: true,
    smoke: true,
    policy: { keepRevisions: '1' },
    run: async (world) => {
      const before = await syncImage(world, 'fresh');
      await requestSync(world, 'fresh', 'today');
      const after = await untilRevision(world, 'fresh', 2);
      const seen = world.history
        .changes()
        .filter(({ object }) => object.kind === 'VMDiskImage')
        .map(({ object }) => object as VMDiskImage);
      const between = seen.filter(({ status }) => status?.revision === 2 && status.phase !== 'Succeeded');
      expect(between.length).toBeGreaterThan(2);
      for (const { status } of between) {
        expect(status?.snapshot?.name).toBe(before.status?.snapshot?.name);
        expect(status?.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('True');
      }
      await untilGone(world, VolumeSnapshot, { namespace: world.namespace, name: before.status?.snapshot?.name ?? '' });
      expect(after.status?.snapshot?.name).not.toBe(before.status?.snapshot?.name);
    },
  },
  'a revision that is bad is gone back on without a download, until the annotation that asks for it is removed': async (
    world,
  ) => {
    const ref = { namespace: world.namespace, name: 'golden' };
    const use = (revision: string | null) =>
      world.kube.patch(VMDiskImage, ref, { metadata: { annotations: { [useRevision]: revision } } });
    const uses = (revision: number) => (image: VMDiskImage | undefined) =>
      image?.status?.phase === 'Succeeded' && image.status.snapshot?.revision === revision;
    await syncImage(world, 'golden');
    await requestSync(world, 'golden', 'bad');
    const bad = await untilRevision(world, 'golden', 2);
    expect(bad.status?.revisions?.map(({ revision }) => revision)).toEqual([2, 1]);
    const downloads = world.history.starts().length;
    await use('1');
    const back = (await until(world, VMDiskImage, ref, uses(1))) as VMDiskImage;
    expect(back.status?.conditions?.map(({ type, status: is }) => `${type}=${is}`)).toEqual(
      expect.arrayContaining(['Ready=True', 'RevisionPinned=True']),
    );
    expect(world.history.starts()).toHaveLength(downloads);
    await requestSync(world, 'golden', 'better');
    const isListed = (image: VMDiskImage | undefined) => image?.status?.revisions?.[0]?.revision === 3;
    const better = await until(world, VMDiskImage, ref, isListed);
    expect(better?.status?.snapshot?.revision).toBe(1);
    await use(null);
    await until(world, VMDiskImage, ref, uses(3));
    await untilGone(world, VolumeSnapshot, { ...ref, name: back.status?.snapshot?.name ?? '' });
  },
  'a failed image is tried again when a sync is requested': async (world) => {
    await createImage(world, 'late');
    await untilPhase(world, 'late', 'Failed');
    await putImage(world, 'late');
    await requestSync(world, 'late', '1');
    expect((await untilPhase(world, 'late', 'Succeeded')).status).toMatchObject({ revision: 2, attempts: 1 });
  },
  'a changed url during a sync ends the running attempt at once': async (world) => {
    world.store.limitTo(0);
    await putImage(world, 'moved');
    await putImage(world, 'elsewhere');
    await createImage(world, 'moved');
    await untilPhase(world, 'moved', 'Syncing');
    const [first] = world.history.starts();
    await world.kube.patch(
      VMDiskImage,
      { namespace: world.namespace, name: 'moved' },
      { spec: { url: `${world.store.url}/images/elsewhere.qcow2` } },
    );
    await untilGone(world, DataVolume, { namespace: world.namespace, name: first?.name ?? '' });
    world.store.limitTo(undefined);
    expect((await untilRevision(world, 'moved', 2)).status?.attempts).toBe(1);
  },
  'a snapshot that a user deleted is reported as lost, and synced again when it is requested': {
    provesPermissions: {},
    run: async (world) => {
      const { status } = await syncImage(world, 'lost');
      await world.kube.delete(VolumeSnapshot, { namespace: world.namespace, name: status?.snapshot?.name ?? '' });
      const ref = { namespace: world.namespace, name: 'lost' };
      await until(
        world,
        VMDiskImage,
        ref,
        (image) =>
          image?.status?.conditions?.some(({ type, status: is }) => type === 'SnapshotLost' && is === 'True') ?? false,
      );
      await requestSync(world, 'lost', '1');
      const found = await untilRevision(world, 'lost', 2);
      const conditions = found.status?.conditions?.map(({ type, status: is }) => `${type}=${is}`);
      expect(conditions).toEqual(expect.arrayContaining(['Ready=True', 'SnapshotLost=False']));
    },
  },
  'if the policy asks for it, a DataSource names the snapshot in use and goes with the image; one of another stays': {
    provesPermissions: {},
    policy: { dataSources: 'true' },
    run: async (world) => {
      const { kube, namespace } = world;
      const ref = { namespace, name: 'offered' };
      const names = (snapshot: string | undefined) => (source: DataSource | undefined) =>
        snapshot !== undefined && source?.spec?.source.snapshot?.name === snapshot;
      const theirs = { spec: { source: { snapshot: { namespace, name: 'theirs' } } } };
      await kube.create(DataSource, { metadata: { namespace, name: 'taken' }, ...theirs });
      const first = await syncImage(
        world,
        'offered',
        {},
        { labels: { 'instancetype.kubevirt.io/default-preference': 'ubuntu' } },
      );
      const source = await until(world, DataSource, ref, names(first.status?.snapshot?.name));
      expect(source?.metadata.labels).toMatchObject({ 'instancetype.kubevirt.io/default-preference': 'ubuntu' });
      await requestSync(world, 'offered', 'again');
      const second = await untilRevision(world, 'offered', 2);
      await until(world, DataSource, ref, names(second.status?.snapshot?.name));
      await kube.patch(VMDiskImage, ref, { metadata: { annotations: { [useRevision]: '1' } } });
      await until(world, DataSource, ref, names(first.status?.snapshot?.name));
      await kube.delete(VMDiskImage, ref);
      await untilGone(world, DataSource, ref);
      await syncImage(world, 'taken');
      expect((await kube.get(DataSource, { namespace, name: 'taken' }))?.spec).toMatchObject(theirs.spec);
    },
  },
  'an image that is Ready before the policy asks for DataSources gets one by the audit alone': {
    provesPermissions: { byTimers: true },
    localOnly: 'the audit of an installation comes every ten minutes',
    run: async (world) => {
      const ref = { namespace: world.namespace, name: 'earlier' };
      await syncImage(world, 'earlier');
      expect(await world.kube.get(DataSource, ref)).toBeUndefined();
      await setPolicy(world, { dataSources: 'true' });
      await until(world, DataSource, ref, (source) => source !== undefined);
    },
  },
  'the source volume is kept if the policy demands it': {
    policy: { retainSourceVolume: 'true' },
    run: async (world) => {
      await syncImage(world, 'kept');
      await syncImage(world, 'next');
      expect(await world.kube.list(DataVolume, { namespace: world.namespace })).toHaveLength(2);
    },
  },
});
