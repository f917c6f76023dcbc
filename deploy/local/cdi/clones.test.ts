import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { defineResource } from '../../../shared/kinds/resource.ts';
import { realClock } from '../clock.ts';
import { Claim, DataVolume, StorageClass, VolumeCloneSource } from '../controller/kinds.ts';
import type { Running } from '../controller/simulator.ts';
import { VolumeSnapshot } from '../snapshots/kinds.ts';
import type { FaultRule } from './faults.ts';
import { done, ends } from './scripted-import.ts';
import { startCdi } from './start-cdi.ts';
import { aDataVolume, conditionOf, isDone, type Recording, type TestCluster, testCluster } from './test-cluster.ts';

let cluster: TestCluster;
let cdi: Running;
let dataVolumes: Recording<DataVolume>;
let claims: Recording<Claim>;

async function start(...faults: FaultRule[]) {
  cluster = await testCluster(realClock);
  dataVolumes = await cluster.record(DataVolume);
  claims = await cluster.record(Claim);
  const timings = { bindMs: 20, rebindMs: 20, hostCopyMs: 60 };
  cdi = startCdi({ kube: cluster.kube, clock: realClock, importImage: ends(done), timings, faults });
}
beforeEach(() => start());
afterEach(async () => {
  await cdi.stop();
  await cluster.close();
});

const ready = { readyToUse: true, restoreSize: '1Gi', boundVolumeSnapshotContentName: 'content' };

async function takeSnapshot(status: object | null = ready, namespace = 'default', name = 'golden') {
  await cluster.kube.create(VolumeSnapshot, {
    metadata: { namespace, name },
    spec: { volumeSnapshotClassName: 'ebs-snapshot', source: { persistentVolumeClaimName: 'lab' } },
  });
  if (status) await say(status, namespace, name);
}
const say = (status: object, namespace = 'default', name = 'golden') =>
  cluster.kube.patch(VolumeSnapshot, { namespace, name }, { status }, { subresource: 'status' });

const aClone = (size: string | undefined = '1Gi', from = 'default') => {
  const storage = { storageClassName: 'gp3', ...(size ? { resources: { requests: { storage: size } } } : {}) };
  return aDataVolume('disk', { snapshot: { namespace: from, name: 'golden' } }, { storage });
};

const phases = () => dataVolumes.inTurn(({ status }) => status?.phase ?? '');
const says = (reason: string, message: string) => (dataVolume: DataVolume) =>
  ['Bound', 'Ready'].every((type) => {
    const condition = conditionOf(dataVolume, type);
    return condition?.status === 'False' && condition.reason === reason && condition.message === message;
  });
const isPhase = (phase: string) => (dataVolume: DataVolume) => dataVolume.status?.phase === phase;

test('a clone goes through CDI’s phases, its volume becomes the claim’s, and nothing else stays', async () => {
  await takeSnapshot();
  await cluster.kube.create(DataVolume, aClone());
  const clone = await dataVolumes.until(isDone);
  expect(phases()).toEqual(['', 'CloneScheduled', 'PrepClaimInProgress', 'RebindInProgress', 'Succeeded']);
  expect(clone.status).toMatchObject({ progress: '100.0%', claimName: 'disk' });
  expect(conditionOf(clone, 'Running')).toMatchObject({
    status: 'False',
    reason: 'Completed',
    message: 'Clone Complete',
  });
  const running = dataVolumes.events.map(({ object }) => conditionOf(object, 'Running'));
  expect(running).toContainEqual(expect.objectContaining({ reason: 'Pending', message: 'Clone Pending' }));
  expect(running).toContainEqual(expect.objectContaining({ status: 'True', reason: 'Populator is running' }));
  await claims.until(({ metadata }, type) => type === 'DELETED' && metadata.name.startsWith('tmp-pvc-'));
  const claim = await claims.until(
    ({ metadata, spec }) =>
      metadata.name === 'disk' &&
      spec.volumeName !== undefined &&
      !metadata.finalizers?.includes('cdi.kubevirt.io/clonePopulator'),
  );
  expect(await cluster.kube.list(VolumeCloneSource)).toEqual([]);
  const temporary = claims.events.find(
    ({ object }) => object.metadata.name.startsWith('tmp-pvc-') && object.spec.volumeName,
  );
  expect(claim.spec.volumeName).toBe(temporary?.object.spec.volumeName);
});

describe('a snapshot that cannot be cloned is reported in Bound and Ready, never in the phase, and checked again at each change', () => {
  test('missing, without status, in error, too big, not ready yet, and good at last', async () => {
    await cluster.kube.create(DataVolume, aClone());
    await dataVolumes.until(says('CloneWithoutSource', "The source snapshot golden doesn't exist"));
    await takeSnapshot(null);
    const unfit = (cause: string) =>
      dataVolumes.until(says('CloneValidationFailed', `The clone doesn't meet the validation requirements: ${cause}`));
    await unfit('no status on source snapshot yet');
    await say({ error: { message: 'no room' } });
    await unfit('snapshot in error state with msg: no room');
    await say({ ...ready, readyToUse: false, restoreSize: '2Gi', error: null });
    await unfit('target resources requests storage size is smaller than the source 1073741824 < 2147483648');
    expect(phases()).toEqual(['']);
    await say({ restoreSize: '1Gi' });
    await dataVolumes.until(isPhase('CloneFromSnapshotSourceInProgress'));
    expect((await cluster.kube.list(Claim)).map(({ metadata }) => metadata.name)).toEqual(['disk']);
    await say({ readyToUse: true });
    await dataVolumes.until(isDone);
  });
});

test('a clone that asks for more on a class that cannot grow is copied', async () => {
  await cluster.kube.patch(StorageClass, { name: 'gp3' }, { allowVolumeExpansion: false });
  await takeSnapshot();
  await cluster.kube.create(DataVolume, aClone('3Gi'));
  await dataVolumes.until(isDone);
  const steps = phases().filter((phase) => phase.endsWith('InProgress'));
  expect(steps.slice(0, 2)).toEqual(['CloneFromSnapshotSourceInProgress', 'CloneInProgress']);
  expect(steps).not.toContain('PrepClaimInProgress');
});

test('a clone that names no size gets its snapshot’s', async () => {
  await takeSnapshot({ ...ready, restoreSize: '5Gi' });
  await cluster.kube.create(DataVolume, aClone(''));
  await dataVolumes.until(isDone);
  const claim = await cluster.kube.get(Claim, { namespace: 'default', name: 'disk' });
  expect(claim?.status).toMatchObject({ phase: 'Bound', capacity: { storage: '5Gi' } });
});

test('on a class that waits for a consumer nothing is cloned before a node is chosen', async () => {
  await takeSnapshot();
  const { metadata, ...rest } = aClone();
  await cluster.kube.create(DataVolume, { ...rest, metadata: { ...metadata, annotations: {} } });
  await dataVolumes.until(isPhase('PendingPopulation'));
  const annotations = { 'volume.kubernetes.io/selected-node': 'node-1' };
  await cluster.kube.patch(Claim, { namespace: 'default', name: 'disk' }, { metadata: { annotations } });
  await dataVolumes.until(isDone);
  expect(phases().slice(0, 3)).toEqual(['', 'PendingPopulation', 'CloneScheduled']);
});

test('an error of the populator is reported by Running alone, and heals', async () => {
  await cdi.stop();
  await cluster.close();
  await start({ match: 'disk', mode: 'cloneError', forMs: 60 });
  await takeSnapshot();
  await cluster.kube.create(DataVolume, aClone());
  const failing = await dataVolumes.until((object) => conditionOf(object, 'Running')?.reason === 'Error');
  expect(failing.status?.phase).toBe('CloneScheduled');
  await dataVolumes.until(isDone);
});

test('a snapshot that goes while it is cloned ends the clone in an error that stays', async () => {
  await takeSnapshot({ ...ready, readyToUse: false });
  await cluster.kube.create(DataVolume, aClone());
  await dataVolumes.until(isPhase('CloneFromSnapshotSourceInProgress'));
  await cluster.kube.delete(VolumeSnapshot, { namespace: 'default', name: 'golden' });
  const failing = await dataVolumes.until((object) => conditionOf(object, 'Running')?.reason === 'Error');
  expect(failing.status?.phase).toBe('CloneFromSnapshotSourceInProgress');
  expect(conditionOf(failing, 'Running')?.message).toBe('source claim does not exist');
});

test('the claim of a clone that someone deletes is cloned again', async () => {
  await takeSnapshot();
  await cluster.kube.create(DataVolume, aClone());
  await dataVolumes.until(isDone);
  const first = await claims.until(({ metadata, status }) => metadata.name === 'disk' && status?.phase === 'Bound');
  await cluster.kube.delete(Claim, { namespace: 'default', name: 'disk' });
  await claims.until(
    ({ metadata, status }) =>
      metadata.name === 'disk' && metadata.uid !== first.metadata.uid && status?.phase === 'Bound',
  );
});

describe('across namespaces', () => {
  const Anything = (kind: string, plural: string, group = 'rbac.authorization.k8s.io/v1', namespaced = true) =>
    defineResource({ apiVersion: group, kind, plural, namespaced }, { spec: z.looseObject({}).optional() });
  const rule = (apiGroups: string[], resources: string[]) => ({ apiGroups, resources, verbs: ['create'] });

  async function grant(namespace: string, name: string, ...rules: object[]) {
    await cluster.kube.create(Anything('Role', 'roles'), { metadata: { namespace, name }, rules });
    await cluster.kube.create(Anything('RoleBinding', 'rolebindings'), {
      metadata: { namespace, name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', namespace: 'default', name: 'tenant' }],
    });
  }
  beforeEach(async () => {
    await cluster.kube.create(Anything('Namespace', 'namespaces', 'v1', false), { metadata: { name: 'images' } });
    await takeSnapshot(ready, 'images');
    await grant('default', 'disks', rule(['cdi.kubevirt.io'], ['datavolumes']));
  });
  const tenant = () => cluster.as({ namespace: 'default', name: 'tenant' });

  test.each([
    ['nothing', []],
    ['pods without claims', [rule([''], ['pods'])]],
    ['pods and claims by their own name', [rule([''], ['pods', 'persistentvolumeclaims'])]],
  ])('%s is not enough for cloning', async (_, rules) => {
    await grant('images', 'clone', ...rules);
    await expect(tenant().create(DataVolume, aClone('1Gi', 'images'))).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining(
        'User system:serviceaccount:default:tenant has insufficient permissions in clone source namespace images',
      ),
    });
  });

  test.each([
    ['datavolumes/source', rule(['cdi.kubevirt.io'], ['datavolumes/source'])],
    ['everything of the core', rule([''], ['*'])],
  ])('%s is enough, and what the clone makes beside the snapshot goes again', async (_, granted) => {
    await grant('images', 'clone', granted);
    await tenant().create(DataVolume, aClone('1Gi', 'images'));
    const held = await dataVolumes.until(isPhase('CloneScheduled'));
    expect(held.metadata.finalizers).toEqual(['cdi.kubevirt.io/dataVolumeFinalizer']);
    expect(held.status?.claimName).toBeUndefined();
    await dataVolumes.until((object) => isDone(object) && !object.metadata.finalizers?.length);
    await claims.until(({ metadata }, type) => type === 'DELETED' && metadata.namespace === 'images');
    expect(await cluster.kube.list(VolumeCloneSource)).toEqual([]);
  });

  test('a clone that is deleted on its way leaves nothing', async () => {
    await say({ readyToUse: false }, 'images');
    await cluster.kube.create(DataVolume, aClone('1Gi', 'images'));
    await dataVolumes.until(isPhase('CloneFromSnapshotSourceInProgress'));
    await cluster.kube.delete(DataVolume, { namespace: 'default', name: 'disk' });
    await dataVolumes.until((_, type) => type === 'DELETED');
    await claims.until(({ metadata }, type) => type === 'DELETED' && metadata.name === 'disk');
    expect(await cluster.kube.list(VolumeCloneSource)).toEqual([]);
    expect(await cluster.kube.list(Claim)).toEqual([]);
  });
});
