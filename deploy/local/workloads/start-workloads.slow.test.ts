import { afterEach, describe, expect, test } from 'vitest';
import { NetworkAttachmentDefinition } from '../../../shared/kinds/cni/network-attachment-definition.ts';
import { Event } from '../../../shared/kinds/core/event.ts';
import { Namespace } from '../../../shared/kinds/core/namespace.ts';
import { done, ends } from '../cdi/scripted-import.ts';
import { startCdi } from '../cdi/start-cdi.ts';
import { type Recording, type TestCluster, testCluster } from '../cdi/test-cluster.ts';
import { realClock } from '../clock.ts';
import { Claim, Secret, StorageClass } from '../controller/kinds.ts';
import type { Running } from '../controller/simulator.ts';
import type { WorkloadFaultRule } from './faults.ts';
import { ConfigMap, conditionOf, Deployment, isGoing, isReady, isTrue, Job, Pod, ReplicaSet } from './kinds.ts';
import { startWorkloads } from './start-workloads.ts';
import { aDeployment, aJob, aPodSpec, namespace } from './test-objects.ts';

let cluster: TestCluster;
let running: Running[];
let deployments: Recording<Deployment>;
let jobs: Recording<Job>;
let pods: Recording<Pod>;

async function start(...faults: WorkloadFaultRule[]) {
  cluster = await testCluster(realClock);
  for (const name of [namespace, 'other']) await cluster.kube.create(Namespace, { metadata: { name } });
  deployments = await cluster.record(Deployment);
  jobs = await cluster.record(Job);
  pods = await cluster.record(Pod);
  running = [
    startCdi({
      kube: cluster.kube,
      clock: realClock,
      importImage: ends(done),
      faults: [{ mode: 'provisionError', match: 'never' }],
    }),
    startWorkloads({ kube: cluster.kube, clock: realClock, faults }),
  ];
}
afterEach(async () => {
  for (const { stop } of running) await stop();
  await cluster.close();
});

const make = (object: object) => cluster.kube.create(Deployment, object);
const isAvailable = (deployment: Deployment) => isTrue(deployment, 'Available') && deployment.spec.replicas > 0;
const waitingFor =
  (reason: string, index = 0) =>
  ({ status }: Pod) =>
    status?.containerStatuses?.[index]?.state?.waiting?.reason === reason;
const eventsOf = async (reason: string) =>
  (await cluster.events()).filter((event) => event.reason === reason).map(({ message }) => message);
const at = { namespace, name: 'dns' };

describe('a Deployment', () => {
  test('gets its Pod, and reports it as the real one does', async () => {
    await start();
    const made = await make(aDeployment());
    const ready = await deployments.until(
      (one) => isAvailable(one) && conditionOf(one, 'Progressing')?.reason === 'NewReplicaSetAvailable',
    );
    const [replicaSet] = await cluster.kube.list(ReplicaSet);
    const name = replicaSet?.metadata.name ?? '';
    expect(name).toMatch(/^dns-[a-z0-9]{10}$/);
    const { conditions, ...counts } = ready.status ?? {};
    expect(counts).toEqual({
      observedGeneration: made.metadata.generation,
      replicas: 1,
      updatedReplicas: 1,
      readyReplicas: 1,
      availableReplicas: 1,
    });
    expect(conditions?.map(({ type, status, reason, message }) => [type, status, reason, message])).toEqual([
      ['Available', 'True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.'],
      ['Progressing', 'True', 'NewReplicaSetAvailable', `ReplicaSet "${name}" has successfully progressed.`],
    ]);
    const said = deployments.events.map(({ object }) => conditionOf(object, 'Progressing')?.reason);
    expect([...new Set(said)]).toEqual([
      undefined,
      'NewReplicaSetCreated',
      'ReplicaSetUpdated',
      'NewReplicaSetAvailable',
    ]);
    const [pod] = await cluster.kube.list(Pod);
    expect(pod?.metadata.name).toMatch(new RegExp(`^${name}-[a-z0-9]{5}$`));
    expect(pod?.status).toMatchObject({
      phase: 'Running',
      podIP: expect.stringMatching(/^10\.24[4-7]\./),
      containerStatuses: [{ name: 'dns', ready: true, restartCount: 0, state: { running: {} } }],
    });
  });

  test('of another namespace is left alone', async () => {
    await start();
    const { metadata, ...rest } = aDeployment();
    await make({ metadata: { ...metadata, namespace: 'other' }, ...rest });
    await make(aDeployment());
    await deployments.until(isAvailable);
    expect(await cluster.kube.list(Pod, { namespace: 'other' })).toEqual([]);
    expect((await cluster.kube.get(Deployment, { namespace: 'other', name: 'dns' }))?.status).toEqual({});
  });

  test('to be recreated ends the old Pod before it makes the new one', async () => {
    await start();
    await make(aDeployment());
    await deployments.until(isAvailable);
    const old = pods.events[0]?.object.metadata.uid;
    const containers = [{ name: 'dns', image: 'registry/dns:2' }];
    await cluster.kube.patch(Deployment, at, { spec: { template: { spec: { containers } } } });
    const fresh = await pods.until((pod) => isReady(pod) && pod.metadata.uid !== old);
    expect(fresh.spec.containers[0]?.image).toBe('registry/dns:2');
    const oldIsGone = pods.events.findIndex(({ type, object }) => type === 'DELETED' && object.metadata.uid === old);
    expect(oldIsGone).toBeGreaterThan(0);
    expect(oldIsGone).toBeLessThan(pods.events.findIndex(({ object }) => object.metadata.uid === fresh.metadata.uid));
    await deployments.until(
      ({ metadata, status }) =>
        metadata.generation === 2 && status?.observedGeneration === 2 && status.availableReplicas === 1,
    );
  });

  test('heals when its Pod is deleted', async () => {
    await start();
    await make(aDeployment());
    const first = await pods.until(isReady);
    await deployments.until(isAvailable);
    await cluster.kube.delete(Pod, first.metadata);
    await deployments.until((one) => conditionOf(one, 'Available')?.status === 'False' && one.status?.replicas === 1);
    await pods.until((pod) => isReady(pod) && pod.metadata.uid !== first.metadata.uid);
    const states = pods.events.filter(({ object }) => object.metadata.uid === first.metadata.uid);
    expect(states.some(({ object }) => isGoing(object) && object.metadata.deletionGracePeriodSeconds === 30)).toBe(
      true,
    );
  });

  test('with no replicas is available, and is deleted with its objects', async () => {
    await start();
    await make(aDeployment());
    await deployments.until(isAvailable);
    await cluster.kube.patch(Deployment, at, { spec: { replicas: 0 } });
    await pods.until((_, type) => type === 'DELETED');
    await deployments.until(({ spec, status }) => spec.replicas === 0 && status?.replicas === undefined);
    const replicaSets = await cluster.record(ReplicaSet);
    await cluster.kube.delete(Deployment, at);
    await replicaSets.until((_, type) => type === 'DELETED');
  });

  test('is not available before minReadySeconds are over', async () => {
    await start();
    await make(aDeployment(aPodSpec(), { minReadySeconds: 5 }));
    await deployments.until(isAvailable);
    const counts = deployments.events.map(({ object: { status } }) => [
      status?.readyReplicas,
      status?.availableReplicas,
    ]);
    expect(counts).toContainEqual([1, undefined]);
  });

  test('that makes no progress reports it after its deadline, and heals', async () => {
    await start({ mode: 'imagePull', match: 'ws-lab/dns', times: 4 });
    await make(aDeployment(aPodSpec(), { progressDeadlineSeconds: 10 }));
    const late = await deployments.until((one) => conditionOf(one, 'Progressing')?.status === 'False');
    expect(conditionOf(late, 'Progressing')).toMatchObject({
      reason: 'ProgressDeadlineExceeded',
      message: expect.stringMatching(/^ReplicaSet "dns-\w+" has timed out progressing\.$/),
    });
    expect(late.status).toMatchObject({ replicas: 1, unavailableReplicas: 1 });
    await deployments.until((one) => conditionOf(one, 'Progressing')?.reason === 'NewReplicaSetAvailable');
  });
});

describe('a Pod', () => {
  test('whose image cannot be pulled waits by turns in ErrImagePull and ImagePullBackOff', async () => {
    await start({ mode: 'imagePull', match: 'registry/dns', times: 2 });
    await make(aDeployment());
    await pods.until(isReady);
    const reasons = pods.inTurn(({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason);
    expect(reasons.filter((reason) => reason)).toEqual([
      'ContainerCreating',
      'ErrImagePull',
      'ImagePullBackOff',
      'ErrImagePull',
      'ImagePullBackOff',
    ]);
    const waits = await pods.until(waitingFor('ImagePullBackOff'));
    expect(waits.status?.phase).toBe('Pending');
    expect(waits.status?.containerStatuses?.[0]?.state?.waiting?.message).toMatch(
      /^Back-off pulling image "registry\/dns:1": ErrImagePull: rpc error: code = NotFound/,
    );
  });

  test('whose container ends is started again, the first time at once and then with a back-off', async () => {
    await start({ mode: 'exits', match: 'dns', times: 3, message: 'no zone file' });
    await make(aDeployment());
    const crashed = await pods.until(waitingFor('CrashLoopBackOff'));
    expect(crashed.status).toMatchObject({ phase: 'Running', containerStatuses: [{ restartCount: 1, ready: false }] });
    expect(crashed.status?.containerStatuses?.[0]).toMatchObject({
      state: { waiting: { message: expect.stringMatching(/^back-off 10s restarting failed container=dns pod=dns-/) } },
      lastState: { terminated: { exitCode: 1, reason: 'Error', message: 'no zone file' } },
    });
    await pods.until((pod) => pod.status?.containerStatuses?.[0]?.restartCount === 3 && isReady(pod));
  });

  test('waits for a Secret that its environment names', async () => {
    await start();
    const valueFrom = { secretKeyRef: { name: 'keys', key: 'password' } };
    await make(aDeployment(aPodSpec({ env: [{ name: 'PASSWORD', valueFrom }] })));
    const waits = await pods.until(waitingFor('CreateContainerConfigError'));
    expect(waits.status?.containerStatuses?.[0]?.state?.waiting?.message).toBe('secret "keys" not found');
    await cluster.kube.create(Secret, { metadata: { namespace, name: 'keys' }, data: { password: 'eA==' } });
    await pods.until(isReady);
  });

  test('waits for a ConfigMap that it mounts, and reports it in an Event', async () => {
    await start();
    const volumes = [{ name: 'zones', configMap: { name: 'zones' } }];
    await make(aDeployment(aPodSpec({}, { volumes })));
    const events = await cluster.record(Event);
    await events.until((event) => (event as unknown as { reason: string }).reason === 'FailedMount');
    expect(await eventsOf('FailedMount')).toEqual([
      'MountVolume.SetUp failed for volume "zones" : configmap "zones" not found',
    ]);
    await cluster.kube.create(ConfigMap, { metadata: { namespace, name: 'zones' }, data: {} });
    await pods.until(isReady);
  });

  test('stays in ContainerCreating until its networks exist, and then reports its addresses', async () => {
    await start();
    const networks = JSON.stringify([{ name: 'lan', namespace, ips: ['10.10.0.5/24'], mac: '02:00:00:00:00:01' }]);
    await make(aDeployment(aPodSpec(), {}, { 'k8s.v1.cni.cncf.io/networks': networks }));
    const events = await cluster.record(Event);
    await events.until((event) => (event as unknown as { reason: string }).reason === 'FailedCreatePodSandBox');
    const held = await pods.until(waitingFor('ContainerCreating'));
    expect(conditionOf(held, 'PodReadyToStartContainers')?.status).toBe('False');
    await cluster.kube.create(NetworkAttachmentDefinition, {
      metadata: { namespace, name: 'lan' },
      spec: { config: '{}' },
    });
    const ready = await pods.until(isReady);
    const told = JSON.parse(ready.metadata.annotations?.['k8s.v1.cni.cncf.io/network-status'] ?? '[]');
    expect(told).toEqual([
      expect.objectContaining({ interface: 'eth0', default: true }),
      { name: 'ws-lab/lan', interface: 'net1', ips: ['10.10.0.5'], mac: '02:00:00:00:00:01', dns: {} },
    ]);
  });

  test('waits for a host port in use, and gets it when the other Pod is deleted', async () => {
    await start();
    const pod = aPodSpec({ ports: [{ containerPort: 53, hostPort: 53, protocol: 'UDP' }] });
    await make(aDeployment(pod));
    await pods.until(isReady);
    const other = aDeployment(pod);
    await make({ ...other, metadata: { ...other.metadata, name: 'rival' } });
    const waits = await pods.until((one) => conditionOf(one, 'PodScheduled')?.status === 'False');
    expect(conditionOf(waits, 'PodScheduled')).toMatchObject({
      reason: 'Unschedulable',
      message: expect.stringContaining("1 node(s) didn't have free ports for the requested pod ports."),
    });
    await cluster.kube.delete(Deployment, at);
    await pods.until((one) => isReady(one) && one.metadata.uid === waits.metadata.uid);
  });

  test('gets a node and a bound claim, whatever the binding mode of the class', async () => {
    await start();
    await cluster.kube.create(StorageClass, { metadata: { name: 'now' }, provisioner: 'ebs.csi.aws.com' });
    for (const name of ['gp3', 'now']) {
      await cluster.kube.create(Claim, {
        metadata: { name, namespace },
        spec: { accessModes: ['ReadWriteOnce'], storageClassName: name, resources: { requests: { storage: '1Gi' } } },
      });
    }
    const volumes = ['gp3', 'now'].map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
    await make(aDeployment(aPodSpec({}, { volumes })));
    await pods.until(isReady);
    const phases = (await cluster.kube.list(Claim)).map(({ status }) => status?.phase);
    expect(phases).toEqual(['Bound', 'Bound']);
  });

  test('of a claim that never gets a volume never gets a node', async () => {
    await start();
    await cluster.kube.create(Claim, {
      metadata: { name: 'never', namespace },
      spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'gp3', resources: { requests: { storage: '1Gi' } } },
    });
    const events = await cluster.record(Event);
    const volumes = [{ name: 'zones', persistentVolumeClaim: { claimName: 'never' } }];
    await make(aDeployment(aPodSpec({}, { volumes })));
    await events.until((event) => (event as unknown as { reason: string }).reason === 'ProvisioningFailed');
    const [pod] = await cluster.kube.list(Pod);
    expect([pod?.spec.nodeName, pod?.status?.phase]).toEqual([undefined, 'Pending']);
  });

  test('of a claim that is not there has no node until it is', async () => {
    await start();
    const volumes = [{ name: 'zones', persistentVolumeClaim: { claimName: 'zones' } }];
    await make(aDeployment(aPodSpec({}, { volumes })));
    const waits = await pods.until((one) => conditionOf(one, 'PodScheduled')?.status === 'False');
    expect(conditionOf(waits, 'PodScheduled')?.message).toContain('persistentvolumeclaim "zones" not found');
    await cluster.kube.create(Claim, {
      metadata: { name: 'zones', namespace },
      spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'gp3', resources: { requests: { storage: '1Gi' } } },
    });
    await pods.until(isReady);
  });
});

describe('a Job', () => {
  const make = (spec: object = {}) => cluster.kube.create(Job, aJob(spec));
  const told = (job: Job) => job.status?.conditions?.map(({ type, reason, message }) => [type, reason, message]);

  test('runs its Pod to its end, and is complete', async () => {
    await start({ mode: 'exits', match: 'roles', exitCode: 0, message: '{"ok":3}' });
    await make();
    const complete = await jobs.until((job) => isTrue(job, 'Complete'));
    const text = 'Reached expected number of succeeded pods';
    expect(told(complete)).toEqual([
      ['SuccessCriteriaMet', 'CompletionsReached', text],
      ['Complete', 'CompletionsReached', text],
    ]);
    const { conditions: _, startTime, completionTime, ...counts } = complete.status ?? {};
    expect(counts).toEqual({ succeeded: 1, ready: 0, terminating: 0, uncountedTerminatedPods: {} });
    expect([startTime, completionTime]).toEqual([expect.any(String), expect.any(String)]);
    const [pod] = await cluster.kube.list(Pod);
    expect(pod?.metadata.finalizers).toBeUndefined();
    expect(pod?.status).toMatchObject({
      phase: 'Succeeded',
      containerStatuses: [{ state: { terminated: { exitCode: 0, reason: 'Completed', message: '{"ok":3}' } } }],
    });
  });

  test('tries again as often as its limit allows', async () => {
    await start({ mode: 'exits', match: 'roles', times: 2 });
    await make({ backoffLimit: 2 });
    const complete = await jobs.until((job) => isTrue(job, 'Complete'));
    expect(complete.status).toMatchObject({ succeeded: 1, failed: 2 });
  });

  test('fails when its limit is reached', async () => {
    await start({ mode: 'exits', match: 'roles', exitCode: 4 });
    await make({ backoffLimit: 1 });
    const failed = await jobs.until((job) => isTrue(job, 'Failed'));
    const text = 'Job has reached the specified backoff limit';
    expect(told(failed)).toEqual([
      ['FailureTarget', 'BackoffLimitExceeded', text],
      ['Failed', 'BackoffLimitExceeded', text],
    ]);
    expect(failed.status).toMatchObject({ failed: 2, uncountedTerminatedPods: {} });
  });

  test('that never ends is ended at its deadline, with its Pod', async () => {
    await start({ mode: 'hangs', match: 'roles' });
    await make({ activeDeadlineSeconds: 20 });
    const failed = await jobs.until((job) => isTrue(job, 'Failed'));
    expect(told(failed)?.at(-1)).toEqual([
      'Failed',
      'DeadlineExceeded',
      'Job was active longer than specified deadline',
    ]);
    expect(failed.status?.failed).toBe(1);
    await pods.until((_, type) => type === 'DELETED');
  });

  test('is deleted with its Pods before its end', async () => {
    await start({ mode: 'hangs', match: 'roles' });
    await make();
    await pods.until(isReady);
    await cluster.kube.delete(Job, { namespace, name: 'roles' });
    await pods.until((_, type) => type === 'DELETED');
  });
});
