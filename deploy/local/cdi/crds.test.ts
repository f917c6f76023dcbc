import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { VolumeSnapshotClass } from '../../../shared/kinds/snapshot/volume-snapshot-class.ts';
import { realClock } from '../clock.ts';
import { DataVolume } from '../controller/kinds.ts';
import { VolumeSnapshot, VolumeSnapshotContent } from '../snapshots/kinds.ts';
import { aDataVolume, type TestCluster, testCluster } from './test-cluster.ts';

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await testCluster(realClock);
});
afterAll(() => cluster.close());

const { apiVersion } = VolumeSnapshot;
const take = (name: string, spec: object) =>
  cluster.kube.create(VolumeSnapshot, {
    apiVersion,
    kind: 'VolumeSnapshot',
    metadata: { namespace: 'default', name },
    spec,
  });

describe('a VolumeSnapshot', () => {
  const source = { persistentVolumeClaimName: 'lab' };

  test.each([
    [
      'without source',
      { source: {} },
      'exactly one of volumeSnapshotContentName and persistentVolumeClaimName must be set',
    ],
    ['with two sources', { source: { ...source, volumeSnapshotContentName: 'a' } }, 'exactly one of'],
    [
      'of the class ""',
      { source, volumeSnapshotClassName: '' },
      'volumeSnapshotClassName must not be the empty string when set',
    ],
  ])('%s is refused', async (_, spec, message) => {
    await expect(take('refused', spec)).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining(message),
    });
  });

  test('keeps its source', async () => {
    await take('kept', { source });
    const at = { namespace: 'default', name: 'kept' };
    const other = { spec: { source: { persistentVolumeClaimName: 'other' } } };
    await expect(cluster.kube.patch(VolumeSnapshot, at, other)).rejects.toThrow(
      'persistentVolumeClaimName is immutable',
    );
    const none = { spec: { source: { persistentVolumeClaimName: null, volumeSnapshotContentName: 'a' } } };
    await expect(cluster.kube.patch(VolumeSnapshot, at, none)).rejects.toThrow(
      'persistentVolumeClaimName is required once set',
    );
  });
});

test('a VolumeSnapshotContent needs the snapshot it is for, and one handle', async () => {
  const content = (name: string, volumeSnapshotRef: object, source: object) => ({
    metadata: { name },
    spec: { deletionPolicy: 'Delete', driver: 'ebs.csi.aws.com', source, volumeSnapshotRef },
  });
  const create = (...args: Parameters<typeof content>) => cluster.kube.create(VolumeSnapshotContent, content(...args));
  const reference = { namespace: 'default', name: 'lab' };
  await expect(create('a', { name: 'lab' }, { volumeHandle: 'vol-1' })).rejects.toThrow(
    'both spec.volumeSnapshotRef.name and',
  );
  await expect(create('a', reference, {})).rejects.toThrow(
    'exactly one of volumeHandle and snapshotHandle must be set',
  );
  await create('a', reference, { volumeHandle: 'vol-1' });
});

test('a VolumeSnapshotClass knows two policies', async () => {
  const snapshotClass = {
    metadata: { name: 'a' },
    driver: 'ebs.csi.aws.com',
  };
  await expect(cluster.kube.create(VolumeSnapshotClass, { ...snapshotClass, deletionPolicy: 'Keep' })).rejects.toThrow(
    'deletionPolicy',
  );
});

test('the status of a DataVolume is written beside its spec, and unknown fields of its source are dropped', async () => {
  const source = { s3: { url: 'https://s3/images/lab', region: 'eu-west-1' } };
  const made = await cluster.kube.create(DataVolume, { ...aDataVolume('lab', source), status: { phase: 'Succeeded' } });
  expect(made.status).toBeUndefined();
  expect(made.spec.source).toEqual({ s3: { url: 'https://s3/images/lab' } });
  const at = { namespace: 'default', name: 'lab' };
  const after = await cluster.kube.patch(DataVolume, at, { status: { phase: 'Pending' } }, { subresource: 'status' });
  expect(after).toMatchObject({ metadata: { generation: 1 }, status: { phase: 'Pending' } });
});
