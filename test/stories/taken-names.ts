import { expect } from 'vitest';
import { dataVolumeName, snapshotName } from '../../shared/images/children.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { putImage } from './images.ts';
import { byName, createImage, type Story, setPolicy, untilPhase, type World } from './world.ts';

/** An image that waits, so that another object can take a name it will need. */
async function waiting(world: World): Promise<VMDiskImage> {
  await putImage(world, 'taken');
  await createImage(world, 'taken');
  return untilPhase(world, 'taken', 'Queued');
}

/** Lets the image begin, and says how it failed. */
async function failureOf(world: World): Promise<string> {
  await setPolicy(world, { concurrency: '1' });
  const { status } = await untilPhase(world, 'taken', 'Failed');
  expect(conditionOf(status?.conditions, 'Ready')?.reason).toBe('Rejected');
  return status?.message ?? '';
}

export const stories = byName<Story>({
  'a foreign DataVolume of the name that an attempt needs is left alone, and the image reports it': {
    provesPermissions: {},
    quick: true,
    smoke: true,
    policy: { concurrency: '0' },
    run: async (world) => {
      const { metadata } = await waiting(world);
      const name = dataVolumeName(metadata, 1, 1);
      const spec = { source: { blank: {} }, storage: { resources: { requests: { storage: '64Mi' } } } };
      const theirs = await world.kube.create(DataVolume, { metadata: { namespace: world.namespace, name }, spec });
      expect(await failureOf(world)).toContain(`NameTaken: DataVolume ${name} belongs to another owner`);
      const left = await world.kube.get(DataVolume, theirs.metadata);
      expect(left?.metadata.uid).toBe(theirs.metadata.uid);
      expect(left?.metadata.deletionTimestamp).toBeUndefined();
    },
  },
  'a foreign VolumeSnapshot of the name that a revision needs is left alone, and the image reports it': {
    smoke: true,
    policy: { concurrency: '0' },
    run: async (world) => {
      const { metadata } = await waiting(world);
      const name = snapshotName(metadata, 1);
      const spec = { volumeSnapshotClassName: 'ebs-snapshot', source: { persistentVolumeClaimName: 'another' } };
      const theirs = await world.kube.create(VolumeSnapshot, { metadata: { namespace: world.namespace, name }, spec });
      expect(await failureOf(world)).toContain(`NameTaken: VolumeSnapshot ${name} belongs to another owner`);
      const left = await world.kube.get(VolumeSnapshot, theirs.metadata);
      expect(left?.metadata.uid).toBe(theirs.metadata.uid);
      expect(left?.metadata.deletionTimestamp).toBeUndefined();
    },
  },
});
