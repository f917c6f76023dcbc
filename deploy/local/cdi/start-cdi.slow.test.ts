import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Clock, realClock } from '../clock.ts';
import { Claim, DataVolume, Pod, StorageClass, VolumeImportSource } from '../controller/kinds.ts';
import type { Running } from '../controller/simulator.ts';
import type { FaultRule } from './faults.ts';
import { done, endless, ends, failed, qcow2 } from './scripted-import.ts';
import { type CdiOptions, startCdi } from './start-cdi.ts';
import { aDataVolume, conditionOf, isDone, type Recording, type TestCluster, testCluster } from './test-cluster.ts';

const s3 = { s3: { url: 'https://s3.example.com/images/lab' } };
const at = { namespace: 'default', name: 'lab' };

let cluster: TestCluster;
let cdi: Running;
let dataVolumes: Recording<DataVolume>;
let claims: Recording<Claim>;
let pods: Recording<Pod>;

beforeEach(async () => {
  cluster = await testCluster(realClock);
  dataVolumes = await cluster.record(DataVolume);
  claims = await cluster.record(Claim);
  pods = await cluster.record(Pod);
});

afterEach(async () => {
  await cdi.stop();
  await cluster.close();
});

/** Starts CDI, with enough time in each state for every watcher to see it, and makes the DataVolume `lab`. */
async function importing(
  options: Partial<CdiOptions> & Pick<CdiOptions, 'importImage'>,
  dataVolume = aDataVolume('lab', s3),
) {
  const timings = {
    containerMs: 80,
    rebindMs: 80,
    podGraceMs: 150,
    restartScale: 0.01,
    secretPollMs: 20,
    ...options.timings,
  };
  cdi = startCdi({ kube: cluster.kube, clock: realClock, ...options, timings });
  await cluster.kube.create(DataVolume, dataVolume);
}

const isRunning = (status: string, reason: string, message?: string) => (dataVolume: DataVolume) => {
  const running = conditionOf(dataVolume, 'Running');
  return (
    running?.status === status &&
    running.reason === reason &&
    (message === undefined || (running.message ?? '') === message)
  );
};

/** Phase, progress and Bound, Ready, Running as status:reason of every status in order, without repetitions. */
const history = () =>
  dataVolumes.inTurn(({ status }) => {
    const { phase = '-', progress = '-', conditions = [] } = status ?? {};
    return [phase, progress, ...conditions.map(({ status, reason = '' }) => `${status}:${reason}`)].join(' ');
  });

// Each step of each kind of import, its Events and its failures are compared with recordings: test/proofs/recordings.
describe('an import with populators', () => {
  test('leaves the claim alone: bound, with size, owner and labels, and nothing of the work', async () => {
    await importing({ importImage: qcow2 });
    await dataVolumes.until(isDone);
    await claims.until(({ metadata }, type) => type === 'DELETED' && metadata.name.endsWith('-scratch'));
    await claims.until(({ metadata }, type) => type === 'DELETED' && /^prime-[^s]*$/.test(metadata.name));
    const left = await cluster.kube.list(Claim);
    expect(left.map(({ metadata }) => metadata.name)).toEqual(['lab']);
    expect(left[0]).toMatchObject({
      metadata: {
        labels: { app: 'containerized-data-importer', 'pelotech.ot/disk-image-uid': 'image-1' },
        finalizers: ['kubernetes.io/pvc-protection'],
        ownerReferences: [{ kind: 'DataVolume', name: 'lab', controller: true, blockOwnerDeletion: true }],
      },
      spec: { accessModes: ['ReadWriteOnce'], volumeMode: 'Block', volumeName: expect.stringMatching(/^pvc-/) },
      status: { phase: 'Bound', capacity: { storage: '1Gi' } },
    });
    expect(await cluster.kube.list(Pod)).toEqual([]);
    expect(await cluster.kube.list(VolumeImportSource)).toEqual([]);
  });

  test('runs in a pod that carries the labels of the DataVolume and that a real scheduler leaves alone', async () => {
    await importing({ importImage: ends(done) });
    const pod = await pods.until(({ status }) => status?.phase === 'Running');
    expect(pod.metadata.name).toMatch(/^importer-prime-/);
    expect(pod.metadata.labels).toMatchObject({
      'cdi.kubevirt.io': 'importer',
      'pelotech.ot/disk-image-uid': 'image-1',
    });
    expect(pod.spec.schedulerName).toBe('ot-simulated');
    expect(pod.metadata.annotations).not.toHaveProperty('cdi.kubevirt.io/storage.bind.immediate.requested');
  });

  test('waits forever if the class waits for a consumer and no one asked otherwise', async () => {
    const waiting = aDataVolume('lab', s3);
    await importing(
      { importImage: ends(done) },
      { ...waiting, metadata: { ...waiting.metadata, annotations: {} as never } },
    );
    await dataVolumes.until(({ status }) => status?.phase === 'PendingPopulation');
    expect(await cluster.kube.list(Pod)).toEqual([]);
    const annotations = { 'volume.kubernetes.io/selected-node': 'node-1' };
    await cluster.kube.patch(Claim, at, { metadata: { annotations } });
    await dataVolumes.until(isDone);
  });

  test('may skip the first status', async () => {
    await importing({ importImage: ends(done), variants: { skipPending: true } });
    const first = await dataVolumes.until(({ status }) => status !== undefined);
    expect(first.status).toMatchObject({ phase: '', claimName: 'lab' });
  });

  test('continues after every watch has been broken', async () => {
    const { state, importImage } = endless();
    await importing({ importImage });
    await dataVolumes.until(isRunning('True', 'Pod is running'));
    cluster.dropWatches();
    const after = await cluster.record(DataVolume);
    await cluster.kube.create(DataVolume, aDataVolume('other', s3));
    await after.until(({ metadata, status }) => metadata.name === 'other' && status?.phase === 'ImportInProgress');
    await expect.poll(() => state).toEqual({ running: 2, started: 2 });
  });
});

test('without populators the claim is bound first and the importer is named after the DataVolume', async () => {
  await importing({ importImage: ends(done), variants: { classic: true } });
  await dataVolumes.until(isDone);
  expect(history().slice(2)).toEqual([
    'Pending N/A False:Pending False: False:',
    'PVCBound N/A True:Bound False: False:',
    'ImportScheduled N/A True:Bound False: False:ContainerCreating',
    'ImportInProgress N/A True:Bound False:TransferRunning True:Pod is running',
    'ImportInProgress N/A True:Bound False: False:Completed',
    'Succeeded 100.0% True:Bound True: False:Completed',
  ]);
  expect(pods.events[0]?.object.metadata.name).toBe('importer-lab');
});

test('a percentage moves while the total is known, and never shows 100 before the end', async () => {
  const { promise: halfSeen, resolve: see } = Promise.withResolvers<void>();
  const importImage: CdiOptions['importImage'] = async ({ onBytes }) => {
    onBytes?.(45_520, 100_000);
    await halfSeen;
    onBytes?.(100_000, 100_000);
    return done;
  };
  await importing({ importImage, timings: { progressMs: 20 } });
  await dataVolumes.until(({ status }) => status?.progress === '45.52%');
  see();
  await dataVolumes.until(isDone);
  const percentages = new Set(dataVolumes.events.map(({ object }) => object.status?.progress));
  expect([...percentages]).toEqual([undefined, 'N/A', '45.52%', '100.0%']);
});

test('an import without its class has no phase, reports it in Bound, and heals when the class appears', async () => {
  const storage = { storageClassName: 'fast', resources: { requests: { storage: '1Gi' } } };
  await importing({ importImage: ends(done) }, aDataVolume('lab', s3, { storage }));
  const first = await dataVolumes.until(
    (dataVolume) => conditionOf(dataVolume, 'Bound')?.reason === 'ErrClaimNotValid',
  );
  expect(first.status?.phase).toBe('');
  expect(conditionOf(first, 'Bound')?.message).toBe(
    'PVC spec is missing accessMode and no storageClass to choose profile',
  );
  const { apiVersion, kind } = StorageClass;
  await cluster.kube.create(StorageClass, {
    apiVersion,
    kind,
    metadata: { name: 'fast' },
    provisioner: 'ebs.csi.aws.com',
  });
  await dataVolumes.until(isDone);
});

describe('by a rule', () => {
  const withFault = (
    fault: Omit<Extract<FaultRule, { mode: FaultRule['mode'] }>, 'match'> & Partial<FaultRule>,
    importImage = ends(done),
  ) => importing({ importImage, faults: [{ match: 'images/lab', ...fault } as FaultRule] });

  test('missedTerminated shows a failure only as one restart more', async () => {
    let starts = 0;
    await withFault({ mode: 'missedTerminated' }, () => Promise.resolve(starts++ === 0 ? failed('cut') : done));
    const last = await dataVolumes.until(isDone);
    expect(last.status?.restartCount).toBe(1);
    expect(dataVolumes.events.some(({ object }) => isRunning('False', 'Error')(object))).toBe(false);
  });

  test('oldScratch looks like an error and a restart', async () => {
    await withFault({ mode: 'oldScratch' }, qcow2 as never);
    const asking = await dataVolumes.until(isRunning('False', 'Error', 'scratch space required and none found'));
    expect(asking.status?.restartCount).toBe(1);
    await dataVolumes.until(isDone);
  });

  test('stall leaves everything as it is', async () => {
    await withFault({ mode: 'stall', at: 0 });
    await dataVolumes.until(isRunning('True', 'Pod is running'));
    const before = dataVolumes.events.length;
    await cluster.kube.patch(DataVolume, at, { metadata: { labels: { seen: 'yes' } } });
    await dataVolumes.until(({ metadata }) => metadata.labels?.seen === 'yes');
    expect(dataVolumes.events).toHaveLength(before + 1);
  });

  test('evicted leaves a failed pod, and continues when the pod is deleted', async () => {
    await withFault({ mode: 'evicted', times: 1 });
    const failedPod = await pods.until(({ status }) => status?.phase === 'Failed');
    expect(failedPod.status).toMatchObject({ reason: 'Evicted' });
    const stuck = await dataVolumes.until(
      ({ status }, _) => status?.phase === 'ImportScheduled' && isEvicted(status.conditions),
    );
    expect(stuck.status?.restartCount).toBeUndefined();
    await cluster.kube.delete(Pod, { namespace: 'default', name: failedPod.metadata.name });
    await dataVolumes.until(isDone);
    await cdi.stop();
    const message = 'Failed to import into PVC lab';
    expect(await cluster.events()).toContainEqual(
      expect.objectContaining({
        involvedObject: expect.objectContaining({ kind: 'DataVolume' }),
        type: 'Warning',
        reason: 'ImportFailed',
        message,
      }),
    );
  });

  const isEvicted = (conditions: { type: string; message?: string | undefined }[]) =>
    conditions.some(({ type, message }) => type === 'Running' && message?.startsWith('The node was low on resource'));

  test('drained replaces the pod and downloads all over again', async () => {
    const { state, importImage } = endless();
    await withFault({ mode: 'drained', at: 0.00000001, times: 1 }, importImage as never);
    await pods.until((_, type) => type === 'DELETED');
    await pods.until(
      ({ metadata, status }) => metadata.uid !== pods.events[0]?.object.metadata.uid && status?.phase === 'Running',
    );
    // The Pod says Running a moment before its download begins.
    await expect.poll(() => state).toEqual({ running: 1, started: 2 });
  });

  test('oom shows once as OOMKilled, in a pod that is replaced', async () => {
    const faults: FaultRule[] = [{ match: 'images/lab', mode: 'oom', times: 1 }];
    // CDI deletes the Pod before the kubelet starts its container again.
    await importing({ importImage: ends(done), faults, timings: { containerMs: 800 } });
    await dataVolumes.until(isRunning('False', 'OOMKilled'));
    await dataVolumes.until(isDone);
    expect(new Set(pods.events.map(({ object }) => object.metadata.uid)).size).toBe(2);
  });

  test('unschedulable heals after its time', async () => {
    await withFault({ mode: 'unschedulable', forMs: 100 });
    await dataVolumes.until(isRunning('False', 'Unschedulable', 'Importer pod cannot be scheduled'));
    await dataVolumes.until(isDone);
  });

  test('quota keeps it Pending, reported in Bound and Ready, until there is room', async () => {
    await withFault({ mode: 'quota', times: 3 });
    const held = await dataVolumes.until(
      (dataVolume) => conditionOf(dataVolume, 'Bound')?.reason === 'ErrExceededQuota',
    );
    expect(held.status?.phase).toBe('Pending');
    expect(conditionOf(held, 'Ready')).toMatchObject({ status: 'False', reason: 'ErrExceededQuota' });
    expect(conditionOf(held, 'Bound')?.message).toMatch(/^persistentvolumeclaims "lab" is forbidden: exceeded quota: /);
    await dataVolumes.until(isDone);
  });

  test('provisionError shows in the message of Bound and in Events, until the driver can', async () => {
    await withFault({ mode: 'provisionError', times: 1 });
    const held = await dataVolumes.until(
      (dataVolume) => conditionOf(dataVolume, 'Bound')?.message?.includes('failed to provision') ?? false,
    );
    expect(conditionOf(held, 'Bound')?.message).toMatch(
      /^target PVC lab Pending and \[prime-.*\] : failed to provision volume with StorageClass "gp3"/,
    );
    await dataVolumes.until(isDone);
  });

  test('claimLost makes a success a failure', async () => {
    await withFault({ mode: 'claimLost' });
    const last = await dataVolumes.until(({ status }) => status?.phase === 'Failed');
    expect(conditionOf(last, 'Bound')).toMatchObject({ status: 'False', reason: 'ClaimLost', message: 'Claim Lost' });
    expect(dataVolumes.events.some(({ object }) => isDone(object))).toBe(true);
  });

  test('controllerDown writes nothing for its time and then catches up', async () => {
    const startedMs = Date.now();
    await withFault({ mode: 'controllerDown', forMs: 150 });
    await dataVolumes.until(({ status }) => status !== undefined);
    expect(Date.now() - startedMs).toBeGreaterThanOrEqual(150);
    await dataVolumes.until(isDone);
  });

  test('flap takes the phase back once', async () => {
    const { importImage } = endless();
    await withFault({ mode: 'flap' }, importImage as never);
    const phases = () => dataVolumes.inTurn(({ status }) => status?.phase);
    await dataVolumes.until(() => phases().length === 5);
    expect(phases().slice(1)).toEqual(['ImportScheduled', 'ImportInProgress', 'ImportScheduled', 'ImportInProgress']);
  });
});

describe('deletion in mid-import', () => {
  test('takes the DataVolume at once, the rest after it, and lets bytes flow until the pod is gone', async () => {
    const { state, importImage } = endless();
    await importing({ importImage });
    await dataVolumes.until(isRunning('True', 'Pod is running'));
    await cluster.kube.delete(DataVolume, at);
    await dataVolumes.until((_, type) => type === 'DELETED');
    await pods.until(({ metadata }) => metadata.deletionTimestamp !== undefined);
    expect(state.running).toBe(1);
    await claims.until(({ metadata }, type) => type === 'DELETED' && metadata.name.startsWith('prime-'));
    expect(state).toEqual({ running: 0, started: 1 });
    expect(await cluster.kube.list(Claim)).toEqual([]);
    expect(await cluster.kube.list(Pod)).toEqual([]);
    expect(await cluster.kube.list(VolumeImportSource)).toEqual([]);
    const order = claims.events
      .filter(({ type }) => type === 'DELETED')
      .map(({ object }) => object.metadata.name.replace(/-.*/, ''));
    expect(order).toEqual(['lab', 'prime']);
  });

  test('of the claim alone makes CDI start again', async () => {
    const { state, importImage } = endless();
    await importing({ importImage });
    await dataVolumes.until(isRunning('True', 'Pod is running'));
    const before = await cluster.kube.get(Claim, at);
    await cluster.kube.delete(Claim, at);
    await claims.until(({ metadata }) => metadata.name === 'lab' && metadata.uid !== before?.metadata.uid);
    await pods.until(
      ({ metadata, status }) => metadata.uid !== pods.events[0]?.object.metadata.uid && status?.phase === 'Running',
    );
    await pods.until((_, type) => type === 'DELETED');
    // The Pod says Running a moment before its download begins.
    await expect.poll(() => state).toEqual({ running: 1, started: 2 });
  });
});

test('stop leaves no timer behind', async () => {
  let timers = 0;
  const counting: Clock = {
    now: realClock.now,
    after: (delayMs, task) => {
      timers++;
      const off = realClock.after(delayMs, () => {
        timers--;
        task();
      });
      return () => {
        timers--;
        off();
      };
    },
  };
  await importing({ importImage: ends(failed('cut')), clock: counting, timings: { restartScale: 1 } });
  await dataVolumes.until(({ status }) => status?.restartCount === 1);
  await dataVolumes.until(isRunning('False', 'Error'));
  await cdi.stop();
  expect(timers).toBe(0);
});

test('stop aborts what runs; a new start takes the import up as a restarted kubelet does', async () => {
  const first = endless();
  await importing({ importImage: first.importImage });
  await dataVolumes.until(isRunning('True', 'Pod is running'));
  await cdi.stop();
  expect(first.state.running).toBe(0);
  cdi = startCdi({ kube: cluster.kube, clock: realClock, importImage: ends(done) });
  const last = await dataVolumes.until(isDone);
  expect(last.status?.restartCount).toBe(1);
});
