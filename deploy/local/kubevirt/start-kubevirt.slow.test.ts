import { afterEach, describe, expect, test } from 'vitest';
import { NetworkAttachmentDefinition } from '../../../shared/kinds/cni/network-attachment-definition.ts';
import { Namespace } from '../../../shared/kinds/core/namespace.ts';
import { defineResource } from '../../../shared/kinds/resource.ts';
import { done, ends } from '../cdi/scripted-import.ts';
import { startCdi } from '../cdi/start-cdi.ts';
import { type Recording, type TestCluster, testCluster } from '../cdi/test-cluster.ts';
import { realClock } from '../clock.ts';
import { Claim, DataVolume, Pod, Secret } from '../controller/kinds.ts';
import type { Running } from '../controller/simulator.ts';
import { VolumeSnapshot } from '../snapshots/kinds.ts';
import { admitMachine } from './admit.ts';
import type { MachineFaultRule } from './faults.ts';
import { VirtualMachine, VirtualMachineInstance } from './kinds.ts';
import { type KubevirtOptions, startKubevirt } from './start-kubevirt.ts';

let cluster: TestCluster;
let running: Running[];
let machines: Recording<VirtualMachine>;
let instances: Recording<VirtualMachineInstance>;
let pods: Recording<Pod>;

/** A cluster with a golden snapshot, the network `lab-net`, CDI and KubeVirt. */
async function start(options: Partial<KubevirtOptions> = {}) {
  cluster = await testCluster(realClock);
  cluster.server.addAdmission(admitMachine);
  machines = await cluster.record(VirtualMachine);
  instances = await cluster.record(VirtualMachineInstance);
  pods = await cluster.record(Pod);
  await takeSnapshot();
  await makeNetwork('lab-net');
  running = [
    startCdi({ kube: cluster.kube, clock: realClock, importImage: ends(done) }),
    startKubevirt({ kube: cluster.kube, clock: realClock, ...options }),
  ];
}
const withFaults = (...faults: MachineFaultRule[]) => start({ faults });
afterEach(async () => {
  for (const { stop } of running) await stop();
  await cluster.close();
});

async function takeSnapshot(namespace = 'default') {
  await cluster.kube.create(VolumeSnapshot, {
    metadata: { namespace, name: 'golden' },
    spec: { volumeSnapshotClassName: 'ebs-snapshot', source: { persistentVolumeClaimName: 'lab' } },
  });
  const status = { readyToUse: true, restoreSize: '1Gi' };
  await cluster.kube.patch(VolumeSnapshot, { namespace, name: 'golden' }, { status }, { subresource: 'status' });
}

const makeNetwork = (name: string) =>
  cluster.kube.create(NetworkAttachmentDefinition, {
    metadata: { namespace: 'default', name },
    spec: { config: '{"cniVersion":"0.3.1","type":"bridge"}' },
  });

const at = { namespace: 'default', name: 'pc' };
const mac = '02:00:00:00:00:01';

const aDisk = (name = 'pc-root', annotations: Record<string, string> = {}) => ({
  metadata: { name, namespace: 'default', annotations },
  spec: {
    source: { snapshot: { namespace: 'default', name: 'golden' } },
    storage: { storageClassName: 'gp3', resources: { requests: { storage: '1Gi' } } },
  },
});

/** A machine with a root disk from a template and the network `lab-net`. */
function aMachine(spec: object = {}, template: object = {}, volumes: object[] = []) {
  const disks = [{ name: 'root', dataVolume: { name: 'pc-root' } }, ...volumes] as { name: string }[];
  return {
    metadata: { name: 'pc', namespace: 'default' },
    spec: {
      runStrategy: 'Always',
      dataVolumeTemplates: [{ metadata: { name: 'pc-root' }, spec: aDisk().spec }],
      template: {
        metadata: { labels: { app: 'pc' } },
        spec: {
          domain: {
            cpu: { cores: 2 },
            devices: {
              disks: disks.map(({ name }) => ({ name, disk: { bus: 'virtio' } })),
              interfaces: [{ name: 'lan', bridge: {}, macAddress: mac }],
            },
          },
          networks: [{ name: 'lan', multus: { networkName: 'lab-net' } }],
          volumes: disks,
          ...template,
        },
      },
      ...spec,
    },
  };
}
const immediate = { 'cdi.kubevirt.io/storage.bind.immediate.requested': '' };
const cloudInit = { name: 'cloudinit', cloudInitNoCloud: { networkDataSecretRef: { name: 'pc-cloud-init' } } };
const makeSecret = (data: Record<string, string>) =>
  cluster.kube.create(Secret, {
    metadata: { namespace: 'default', name: 'pc-cloud-init' },
    data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')])),
  });

const rbac = 'rbac.authorization.k8s.io';
const Role = defineResource({ apiVersion: `${rbac}/v1`, kind: 'Role', plural: 'roles' }, {});
const RoleBinding = defineResource({ apiVersion: `${rbac}/v1`, kind: 'RoleBinding', plural: 'rolebindings' }, {});

/** Lets every ServiceAccount of `default` clone from a namespace. */
async function mayClone(namespace: string) {
  const rules = [{ apiGroups: ['cdi.kubevirt.io'], resources: ['datavolumes/source'], verbs: ['create'] }];
  await cluster.kube.create(Role, { metadata: { namespace, name: 'clone' }, rules });
  await cluster.kube.create(RoleBinding, {
    metadata: { namespace, name: 'clone' },
    roleRef: { apiGroup: rbac, kind: 'Role', name: 'clone' },
    subjects: [{ apiGroup: rbac, kind: 'Group', name: 'system:serviceaccounts:default' }],
  });
}

const withoutTemplates = { dataVolumeTemplates: [] };
const make = (machine: object = aMachine()) => cluster.kube.create(VirtualMachine, machine);

type Conditioned = {
  status?:
    | {
        conditions?:
          | { type: string; status: string; reason?: string | undefined; message?: string | undefined }[]
          | undefined;
      }
    | undefined;
};
const conditionOf = (object: Conditioned, type: string) => object.status?.conditions?.find((one) => one.type === type);
const isReady = ({ status }: VirtualMachine) => status?.ready === true && status.printableStatus === 'Running';
const shows = (printableStatus: string) => (machine: VirtualMachine) =>
  machine.status?.printableStatus === printableStatus;
const isInPhase = (phase: string) => (instance: VirtualMachineInstance) => instance.status?.phase === phase;
const isGone = (_: unknown, type: string) => type === 'DELETED';

const shown = () => machines.inTurn(({ status }) => status?.printableStatus ?? '-');
const phases = () => instances.inTurn(({ status }) => status?.phase ?? '');
const eventsOf = async (kind: string) =>
  (await cluster.events())
    .filter(({ involvedObject }) => involvedObject.kind === kind)
    .map(({ reason, message }) => `${reason} ${message}`);

describe('a machine whose strategy is Always', () => {
  test('waits for its disk, starts, and says each step', async () => {
    await start();
    await make();
    const machine = await machines.until(isReady);
    expect(shown()).toEqual([
      '-',
      'Stopped',
      'Provisioning',
      'WaitingForVolumeBinding',
      'Provisioning',
      'Starting',
      'Running',
    ]);
    expect(machine).toMatchObject({
      metadata: { finalizers: ['kubevirt.io/virtualMachineControllerFinalize'] },
      status: { created: true, ready: true, runStrategy: 'Always', desiredGeneration: 1, observedGeneration: 1 },
    });
    expect(machines.events.some(({ object }) => conditionOf(object, 'Ready')?.reason === 'VMINotExists')).toBe(true);
    expect(phases()).toEqual(['', 'Pending', 'Scheduling', 'Scheduled', 'Running']);
    const ready = conditionOf(machine, 'Ready');
    expect([ready?.status, ready?.reason, ready?.message]).toEqual(['True', undefined, undefined]);
    expect(machines.events.some(({ object }) => shows('Running')(object) && !object.status?.ready)).toBe(true);
    expect(conditionOf(machine, 'LiveMigratable')).toMatchObject({ status: 'False', reason: 'DisksNotLiveMigratable' });
    const instance = await instances.until(isInPhase('Running'));
    expect(instance.metadata.labels).toMatchObject({ app: 'pc' });
    expect(instance.status?.nodeName).toBe('ot-simulated-node');
    expect(instance.status?.interfaces).toMatchObject([
      { name: 'lan', mac, podInterfaceName: expect.stringMatching(/^pod[0-9a-f]{11}$/) },
    ]);
    expect(await eventsOf('VirtualMachine')).toContain(
      'SuccessfulCreate Started the virtual machine by creating the new virtual machine instance pc',
    );
    const disk = await cluster.kube.get(DataVolume, { namespace: 'default', name: 'pc-root' });
    expect(disk?.metadata).toMatchObject({
      labels: { 'kubevirt.io/created-by': machine.metadata.uid },
      annotations: { 'cdi.kubevirt.io/allowClaimAdoption': 'true' },
    });
  });

  test('reports its addresses only through the agent, as cloud-init sets them', async () => {
    await start();
    const networkData = `ethernets: {lan: {match: {macaddress: '${mac}'}, set-name: lan0, addresses: [10.1.2.3/24]}}`;
    await makeSecret({ networkdata: networkData });
    await make(aMachine({}, {}, [cloudInit]));
    const instance = await instances.until((object) => conditionOf(object, 'AgentConnected') !== undefined);
    expect(instance.status?.interfaces).toMatchObject([
      { interfaceName: 'lan0', ipAddress: '10.1.2.3', infoSource: 'domain, guest-agent, multus-status' },
    ]);
    const before = instances.events.find(({ object }) => isInPhase('Running')(object));
    expect(before?.object.status?.interfaces?.[0]).not.toHaveProperty('ipAddress');
  });

  test('has no address without an agent, but is ready', async () => {
    await withFaults({ match: 'pc', mode: 'noAgent' });
    await make();
    await machines.until(isReady);
    const instance = await cluster.kube.get(VirtualMachineInstance, at);
    expect(instance?.status?.interfaces?.[0]).not.toHaveProperty('ipAddress');
  });

  test('needs a restart for another template, which deleting its instance is', async () => {
    await start();
    await make();
    const first = await machines.until(isReady);
    const cpu = { template: { spec: { domain: { cpu: { cores: 4 } } } } };
    await cluster.kube.patch(VirtualMachine, at, { spec: cpu });
    const changed = await machines.until((object) => conditionOf(object, 'RestartRequired')?.status === 'True');
    expect(changed.status).toMatchObject({ printableStatus: 'Running', ready: true, observedGeneration: 1 });
    expect(conditionOf(changed, 'RestartRequired')?.message).toBe(
      'a non-live-updatable field was changed in the template spec',
    );
    await cluster.kube.delete(VirtualMachineInstance, at);
    await machines.until(shows('Stopping'));
    const isNew = ({ metadata, status }: VirtualMachine) =>
      Number(metadata.generation) > Number(first.metadata.generation) && status?.observedGeneration === 2;
    const restarted = await machines.until((object) => isNew(object) && isReady(object));
    expect(conditionOf(restarted, 'RestartRequired')).toBeUndefined();
    const instance = await cluster.kube.get(VirtualMachineInstance, at);
    expect(instance?.spec.domain).toMatchObject({ cpu: { cores: 4 } });
  });

  test('is deleted with its guest, its Pod and its disk', async () => {
    await start();
    await make();
    await machines.until(isReady);
    await cluster.kube.delete(VirtualMachine, at);
    await machines.until(shows('Terminating'));
    await machines.until(isGone);
    const order = [instances, pods].map(({ events }) => events.at(-1)?.type);
    expect(order).toEqual(['DELETED', 'DELETED']);
    const disks = await cluster.record(DataVolume);
    if (await cluster.kube.get(DataVolume, { ...at, name: 'pc-root' })) await disks.until(isGone);
  });
});

describe('other strategies', () => {
  test('Halted makes the disk and nothing else, and stops what runs', async () => {
    await start();
    await make(
      aMachine({
        runStrategy: 'Halted',
        dataVolumeTemplates: [{ ...aDisk(), metadata: { ...aDisk().metadata, annotations: immediate } }],
      }),
    );
    const disks = await cluster.record(DataVolume);
    await disks.until(({ status }) => status?.phase === 'Succeeded');
    await machines.until(({ status }) => status?.printableStatus === 'Stopped' && status.created === false);
    expect(instances.events).toEqual([]);
    await cluster.kube.patch(VirtualMachine, at, { spec: { runStrategy: 'Always' } });
    await machines.until(isReady);
    await cluster.kube.patch(VirtualMachine, at, { spec: { runStrategy: 'Halted' } });
    await machines.until(
      ({ status }) => status?.printableStatus === 'Stopped' && status.runStrategy === 'Halted' && !status.created,
    );
    expect(instances.events.at(-1)?.type).toBe('DELETED');
  });

  test('Manual starts and stops when it is asked to', async () => {
    await start();
    await make(aMachine({ runStrategy: 'Manual' }));
    await machines.until(shows('Stopped'));
    const ask = (request: object) =>
      cluster.kube.patch(VirtualMachine, at, { status: { stateChangeRequests: [request] } }, { subresource: 'status' });
    await ask({ action: 'Start' });
    const { metadata } = await machines.until(isReady).then(() => instances.until(isInPhase('Running')));
    await ask({ action: 'Stop', uid: metadata.uid });
    await instances.until(isGone);
    const left = await machines.until(({ status }) => status?.created === false && status.runStrategy === 'Manual');
    expect(left.status?.printableStatus).toBe('Stopped');
  });

  test('RerunOnFailure leaves a guest that powered itself off alone, and restarts a failed one', async () => {
    await withFaults(
      { match: 'pc', mode: 'crashLoop', times: 1 },
      { match: 'pc', mode: 'guestShutdown', times: 1, after: 1 },
    );
    await make(aMachine({ runStrategy: 'RerunOnFailure' }));
    await instances.until(isInPhase('Failed'));
    // No watch sees that it was Ready in between if the guest ends as soon as it has started.
    await instances.until(isInPhase('Succeeded'));
    const last = await machines.until(
      ({ status }) =>
        status?.printableStatus === 'Stopped' &&
        status.created === false &&
        status.runStrategy === 'RerunOnFailure' &&
        !status.startFailure,
    );
    expect(last.status?.stateChangeRequests).toBeUndefined();
  });
});

/** And not the Pod with which CDI prepares a clone. */
const isLauncher = ({ metadata }: Pod) => metadata.name.startsWith('virt-launcher-pc-');

describe('what a machine waits for, and how it continues', () => {
  test('a cloud-init Secret: Starting for as long as it is missing', async () => {
    await start();
    await make(aMachine({}, {}, [cloudInit]));
    await pods.until(
      (pod) => isLauncher(pod) && pod.status?.containerStatuses[0]?.state?.waiting?.reason === 'ContainerCreating',
    );
    await instances.until(isInPhase('Scheduling'));
    await machines.until(shows('Starting'));
    expect(phases()).not.toContain('Scheduled');
    await makeSecret({ networkdata: 'version: 2' });
    await machines.until(isReady);
  });

  test('a network: the Pod is created but not set up, and only its Event reports this', async () => {
    await start();
    const networks = [{ name: 'lan', multus: { networkName: 'other-net' } }];
    await make(aMachine({}, { networks }));
    const instance = await instances.until(isInPhase('Scheduling'));
    expect(conditionOf(instance, 'Synchronized')).toBeUndefined();
    await machines.until(shows('Starting'));
    await makeNetwork('other-net');
    await machines.until(isReady);
    const told = expect.stringMatching(/^FailedCreatePodSandBox .*other-net/);
    expect(await eventsOf('Pod')).toContainEqual(told);
  });

  test('a guest that cannot be started: Synchronized has the message of virt-handler, and printableStatus stays Starting', async () => {
    await start({ faults: [{ match: 'pc', mode: 'domainFails', forMs: 300 }] });
    await make(aMachine());
    const machine = await machines.until((object) => conditionOf(object, 'Synchronized')?.status === 'False');
    expect(conditionOf(machine, 'Synchronized')).toMatchObject({
      reason: 'Synchronizing with the Domain failed.',
      message: 'failed to configure vmi network: setup failed, err: pod link (pod2de396bbeea) is missing',
    });
    expect(machine.status?.printableStatus).toBe('Starting');
    expect(conditionOf(await machines.until(isReady), 'Synchronized')).toBeUndefined();
  });

  test('a disk that no template makes: ErrorPvcNotFound until it exists', async () => {
    await start();
    await make(aMachine(withoutTemplates));
    await machines.until(shows('ErrorPvcNotFound'));
    await cluster.kube.create(DataVolume, aDisk());
    await machines.until(isReady);
  });

  test('a launcher that no node takes, for a disk that waits for one: nothing is cloned before', async () => {
    await withFaults({ match: 'pc', mode: 'unschedulable', forMs: 80 });
    await cluster.kube.create(DataVolume, aDisk());
    await make(aMachine(withoutTemplates));
    const stuck = await machines.until(shows('ErrorUnschedulable'));
    expect(conditionOf(stuck, 'PodScheduled')).toMatchObject({ status: 'False', reason: 'Unschedulable' });
    const disk = await cluster.kube.get(DataVolume, { ...at, name: 'pc-root' });
    expect(disk?.status?.phase).toBe('PendingPopulation');
    const machine = await machines.until(isReady);
    expect(conditionOf(machine, 'PodScheduled')).toBeUndefined();
  });

  test('the right to clone: not given to its ServiceAccount, it stays Stopped with a message', async () => {
    await start();
    await cluster.kube.create(Namespace, { metadata: { name: 'images' } });
    await takeSnapshot('images');
    const template = aDisk().spec;
    const spec = { ...template, source: { snapshot: { namespace: 'images', name: 'golden' } } };
    await make(aMachine({ dataVolumeTemplates: [{ metadata: { name: 'pc-root' }, spec }] }));
    const refused = await machines.until((object) => conditionOf(object, 'Failure')?.status === 'True');
    expect(refused.status?.printableStatus).toBe('Stopped');
    const why =
      'User system:serviceaccount:default:default has insufficient permissions in clone source namespace images';
    expect(conditionOf(refused, 'Failure')).toMatchObject({
      reason: 'FailedCreate',
      message: `Error encountered while creating DataVolumes: not authorized to create DataVolume: ${why}`,
    });
    await machines.until(shows('Stopped'));
    const told = `UnauthorizedDataVolumeCreate Not authorized to create DataVolume pc-root: ${why}`;
    expect(await eventsOf('VirtualMachine')).toContain(told);
    await mayClone('images');
    const healed = await machines.until(isReady);
    expect(conditionOf(healed, 'Failure')).toBeUndefined();
  });
});

test('a disk that CDI refuses is reported in the condition Failure, and created once CDI accepts it', async () => {
  await start();
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  await cluster.kube.create(Claim, { metadata: { namespace: 'default', name: 'pc-root' }, spec: claim });
  const notAdopted = { 'cdi.kubevirt.io/allowClaimAdoption': 'false' };
  const template = { metadata: { name: 'pc-root', annotations: notAdopted }, spec: { source: {}, storage: {} } };
  await make(aMachine({ dataVolumeTemplates: [template] }));
  const refused = await machines.until((object) => conditionOf(object, 'Failure')?.status === 'True');
  expect(conditionOf(refused, 'Failure')?.message).toMatch(
    /^Error encountered while creating DataVolumes: failed to create DataVolume: admission webhook .* denied the request/,
  );
  expect((await eventsOf('VirtualMachine')).join()).toContain(
    'FailedDataVolumeCreate Error creating DataVolume pc-root',
  );
  const templates = [{ metadata: { name: 'pc-root' }, spec: aDisk().spec }];
  await cluster.kube.delete(Claim, { namespace: 'default', name: 'pc-root' });
  await cluster.kube.patch(VirtualMachine, at, { spec: { dataVolumeTemplates: templates } });
  const healed = await machines.until(isReady);
  expect(conditionOf(healed, 'Failure')).toBeUndefined();
});

describe('what goes wrong, and heals', () => {
  test('starts that fail are counted, with pauses, and forgotten when one succeeds', async () => {
    await withFaults({ match: 'pc', mode: 'crashLoop', times: 2 });
    await make();
    const once = await machines.until(
      ({ status }) => status?.startFailure?.consecutiveFailCount === 1 && status.printableStatus === 'CrashLoopBackOff',
    );
    expect(once.status?.startFailure?.lastFailedVMIUID).toBeTruthy();
    await machines.until(({ status }) => status?.startFailure?.consecutiveFailCount === 2);
    const healed = await machines.until(isReady);
    expect(healed.status?.startFailure).toBeUndefined();
    expect(phases().filter((phase) => phase === 'Failed').length).toBeGreaterThanOrEqual(2);
  });

  test.each<[string, MachineFaultRule]>([
    ['ErrorPvcNotFound', { match: 'pc', mode: 'pvcNotFound', forMs: 60 }],
    ['DataVolumeError', { match: 'pc', mode: 'dataVolumeError', forMs: 60 }],
    ['ErrImagePull', { match: 'pc', mode: 'imagePull', times: 2 }],
    ['ImagePullBackOff', { match: 'pc', mode: 'imagePull', times: 2 }],
  ])('%s', async (printableStatus, rule) => {
    await withFaults(rule);
    await make();
    await machines.until(shows(printableStatus));
    const machine = await machines.until(isReady);
    expect(conditionOf(machine, 'Synchronized')).toBeUndefined();
  });

  test('a DataVolume that says Error makes DataVolumeError, and heals', async () => {
    await start();
    for (const { stop } of running) await stop();
    const faults = [{ match: 'pc-root', mode: 'cloneError', forMs: 60 } as const];
    running = [
      startCdi({ kube: cluster.kube, clock: realClock, importImage: ends(done), faults }),
      startKubevirt({ kube: cluster.kube, clock: realClock }),
    ];
    await make();
    await machines.until(shows('DataVolumeError'));
    await machines.until(isReady);
  });

  test('a guest that powers itself off is started again', async () => {
    await withFaults({ match: 'pc', mode: 'guestShutdown', times: 1 });
    await make();
    const first = await instances.until(isInPhase('Succeeded'));
    await instances.until(({ metadata, status }) => metadata.uid !== first.metadata.uid && status?.phase === 'Running');
    expect(machines.events.every(({ object }) => !object.status?.startFailure)).toBe(true);
  });

  test('a guest on a lost node is no longer ready, then Failed, then started elsewhere', async () => {
    await withFaults({ match: 'pc', mode: 'nodeLost', times: 1 });
    await make();
    await machines.until(isReady);
    await machines.until(
      (object) =>
        conditionOf(object, 'Ready')?.reason === 'NodeNotReady' &&
        shows('Running')(object) &&
        object.status?.ready === false,
    );
    const lost = await instances.until(isInPhase('Failed'));
    expect(lost.status?.reason).toBe('NodeUnresponsive');
    await instances.until(({ metadata, status }) => metadata.uid !== lost.metadata.uid && status?.phase === 'Running');
  });

  test('a launcher that does not go holds its machine, for that time', async () => {
    await withFaults({ match: 'pc', mode: 'stuckTerminating', forMs: 300 });
    await make();
    await machines.until(isReady);
    const startedMs = Date.now();
    await cluster.kube.delete(VirtualMachine, at);
    await machines.until(isGone);
    expect(Date.now() - startedMs).toBeGreaterThanOrEqual(300);
  });
});

test('a restarted simulator continues from the objects', async () => {
  await start();
  await make(aMachine({}, {}, [cloudInit]));
  await instances.until(isInPhase('Scheduling'));
  const kubevirt = running.pop();
  await kubevirt?.stop();
  await makeSecret({ networkdata: 'version: 2' });
  running.push(startKubevirt({ kube: cluster.kube, clock: realClock }));
  await machines.until(isReady);
  expect(pods.events.filter(({ type, object }) => type === 'ADDED' && isLauncher(object))).toHaveLength(1);
});

test('the webhook’s refusals reach the client', async () => {
  await start();
  await expect(make(aMachine({ runStrategy: 'Sometimes' }))).rejects.toMatchObject({
    status: 422,
    reason: 'Invalid',
    message:
      'admission webhook "virtualmachine-validator.kubevirt.io" denied the request: Invalid RunStrategy (Sometimes)',
  });
});
