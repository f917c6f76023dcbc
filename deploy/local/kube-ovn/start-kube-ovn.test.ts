import { afterEach, describe, expect, test } from 'vitest';
import { Event } from '../../../shared/kinds/core/event.ts';
import { type Recording, type TestCluster, testCluster } from '../cdi/test-cluster.ts';
import { realClock } from '../clock.ts';
import type { Running } from '../controller/simulator.ts';
import { Pod } from '../workloads/kinds.ts';
import { finalizer, Subnet, type SubnetSpec, Vpc } from './kinds.ts';
import { type KubeOvnOptions, startKubeOvn } from './start-kube-ovn.ts';

let cluster: TestCluster;
let kubeOvn: Running;
let subnets: Recording<Subnet>;
let vpcs: Recording<Vpc>;

async function start(options: Partial<KubeOvnOptions> = {}) {
  cluster = await testCluster(realClock);
  subnets = await cluster.record(Subnet);
  vpcs = await cluster.record(Vpc);
  kubeOvn = startKubeOvn({ kube: cluster.kube, clock: realClock, retry: { firstMs: 5, maxMs: 20 }, ...options });
}
afterEach(async () => {
  await kubeOvn.stop();
  await cluster.close();
});

const makeVpc = (name = 'ws-lab', spec: object = {}) => cluster.kube.create(Vpc, { metadata: { name }, spec });
const makeSubnet = (name: string, spec: Partial<SubnetSpec> = {}) =>
  cluster.kube.create(Subnet, {
    metadata: { name },
    spec: { vpc: 'ws-lab', cidrBlock: '10.10.0.0/24', provider: 'lan.ws-lab.ovn', ...spec },
  });
const conditionOf = ({ status }: Subnet, type: string) => status?.conditions?.find((one) => one.type === type);
const isSaid =
  (name: string, type: string, status = 'True') =>
  (subnet: Subnet) =>
    subnet.metadata.name === name && conditionOf(subnet, type)?.status === status;
const isGone = (name: string) => (object: Subnet | Vpc, type: string) =>
  type === 'DELETED' && object.metadata.name === name;

describe('a Vpc', () => {
  test('stands by, with the Subnets that are in it', async () => {
    await start();
    await makeVpc('ws-lab', { staticRoutes: [{ cidr: '0.0.0.0/0', nextHopIP: '10.10.0.1' }] });
    await makeSubnet('ws-lab-lan');
    const vpc = await vpcs.until(({ status }) => status?.subnets?.length === 1);
    expect(vpc.metadata.finalizers).toEqual([finalizer]);
    expect(vpc.status).toMatchObject({ standby: true, default: false, router: 'ws-lab', subnets: ['ws-lab-lan'] });
    expect(vpc.spec.staticRoutes).toEqual([
      { cidr: '0.0.0.0/0', nextHopIP: '10.10.0.1', policy: 'policyDst', ecmpMode: '', bfdId: '', routeTable: '' },
    ]);
  });

  test('that is deleted stays until its Subnets go', async () => {
    await start();
    await makeVpc();
    await makeSubnet('ws-lab-lan');
    await vpcs.until(({ status }) => status?.subnets?.length === 1);
    await cluster.kube.delete(Vpc, { name: 'ws-lab' });
    await vpcs.until(({ metadata }) => metadata.deletionTimestamp !== undefined);
    await cluster.kube.delete(Subnet, { name: 'ws-lab-lan' });
    // A Subnet that is going counts no more; and which of two watches tells first says nothing.
    const subnet = await subnets.until(
      (each, type) => isGone('ws-lab-lan')(each, type) || each.metadata.deletionTimestamp !== undefined,
    );
    const vpc = await vpcs.until(isGone('ws-lab'));
    expect(Number(vpc.metadata.resourceVersion)).toBeGreaterThan(Number(subnet.metadata.resourceVersion));
  });
});

describe('a Subnet', () => {
  test('is completed, validated and ready, and knows how many addresses it has', async () => {
    await start();
    await makeVpc();
    await makeSubnet('ws-lab-lan', { cidrBlock: '10.10.0.7/24', excludeIps: ['10.10.0.100..10.10.0.109'] });
    const subnet = await subnets.until(isSaid('ws-lab-lan', 'Ready'));
    expect(subnet.spec).toEqual({
      vpc: 'ws-lab',
      cidrBlock: '10.10.0.0/24',
      gateway: '10.10.0.1',
      excludeIps: ['10.10.0.1', '10.10.0.100..10.10.0.109'],
      protocol: 'IPv4',
      provider: 'lan.ws-lab.ovn',
      enableLb: true,
      default: false,
      gatewayNode: '',
      natOutgoing: false,
      private: false,
    });
    expect(subnet.metadata.finalizers).toEqual([finalizer]);
    expect(subnet.status?.conditions?.map(({ type, status, reason }) => [type, status, reason])).toEqual([
      ['Validated', 'True', 'ResetLogicalSwitchAclSuccess'],
      ['Ready', 'True', 'ResetLogicalSwitchAclSuccess'],
      ['Error', 'Unknown', 'Init'],
    ]);
    expect(subnet.status).toMatchObject({ v4usingIPs: 0, v4availableIPs: 254 - 11, v6usingIPs: 0 });
  });

  test('of the same range in another Vpc is as ready', async () => {
    await start();
    await makeVpc();
    await makeVpc('ws-two');
    await makeSubnet('ws-lab-lan');
    await makeSubnet('ws-two-lan', { vpc: 'ws-two', provider: 'lan.ws-two.ovn' });
    await subnets.until(isSaid('ws-lab-lan', 'Ready'));
    await subnets.until(isSaid('ws-two-lan', 'Ready'));
  });

  test('whose range another Subnet of its Vpc has is refused until that is deleted', async () => {
    await start();
    await makeVpc();
    await makeSubnet('ws-lab-lan');
    await subnets.until(isSaid('ws-lab-lan', 'Ready'));
    const events = await cluster.record(Event);
    await makeSubnet('ws-lab-other', { cidrBlock: '10.10.0.128/25' });
    const refused = await subnets.until(isSaid('ws-lab-other', 'Ready', 'False'));
    const message = 'subnet ws-lab-other cidr 10.10.0.128/25 is conflict with subnet ws-lab-lan cidr 10.10.0.0/24';
    for (const type of ['Ready', 'Validated']) {
      expect(conditionOf(refused, type)).toMatchObject({
        status: 'False',
        reason: 'ValidateLogicalSwitchFailed',
        message,
      });
    }
    await events.until(({ type, reason }) => type === 'Warning' && reason === 'ValidateLogicalSwitchFailed');
    await cluster.kube.delete(Subnet, { name: 'ws-lab-lan' });
    const healed = await subnets.until(isSaid('ws-lab-other', 'Ready'));
    // It had an error once, and that stays said.
    expect(conditionOf(healed, 'Error')).toMatchObject({ status: 'True', message });
  });

  test('is ready in spite of it before v1.16', async () => {
    await start({ forgivesConflicts: true });
    await makeVpc();
    await makeSubnet('ws-lab-lan');
    await subnets.until(isSaid('ws-lab-lan', 'Ready'));
    await makeSubnet('ws-lab-other');
    const ready = await subnets.until(isSaid('ws-lab-other', 'Ready'));
    expect(conditionOf(ready, 'Error')?.status).toBe('True');
  });

  test.each([
    ['outside its range', { gateway: '10.11.0.1' }, 'gateway 10.11.0.1 is not in cidr 10.10.0.0/24'],
    [
      'that is its broadcast address',
      { gateway: '10.10.0.255' },
      'validate gateway 10.10.0.255 for cidr 10.10.0.0/24 failed: 10.10.0.255 is the broadcast ip in cidr 10.10.0.0/24',
    ],
  ])('with a gateway %s is refused', async (_, spec, message) => {
    await start();
    await makeVpc();
    await makeSubnet('ws-lab-lan', spec);
    const refused = await subnets.until(isSaid('ws-lab-lan', 'Validated', 'False'));
    expect(conditionOf(refused, 'Ready')?.message).toBe(message);
    expect(refused.metadata.finalizers).toBeUndefined();
  });

  test('of a Vpc that is not there is valid, says no more, and heals when it comes', async () => {
    await start();
    await makeSubnet('ws-lab-lan');
    const valid = await subnets.until(isSaid('ws-lab-lan', 'Validated'));
    expect(conditionOf(valid, 'Ready')).toBeUndefined();
    await makeVpc();
    await subnets.until(isSaid('ws-lab-lan', 'Ready'));
  });

  test('is refused by a fault as often as that says', async () => {
    await start({ faults: [{ mode: 'refused', match: 'lan', times: 2, message: 'no' }] });
    await makeVpc();
    await makeSubnet('ws-lab-lan');
    const refused = await subnets.until(isSaid('ws-lab-lan', 'Validated', 'False'));
    expect(conditionOf(refused, 'Ready')?.message).toBe('no');
    await subnets.until(isSaid('ws-lab-lan', 'Ready'));
  });

  test('that is deleted stays while a Pod has an address of it', async () => {
    await start();
    const pods = await cluster.record(Pod);
    await makeVpc();
    await makeSubnet('ws-lab-lan');
    await subnets.until(isSaid('ws-lab-lan', 'Ready'));
    await cluster.kube.create(Pod, {
      metadata: {
        namespace: 'default',
        name: 'member',
        annotations: { 'k8s.v1.cni.cncf.io/networks': '[{"name":"lan","namespace":"ws-lab"}]' },
      },
      spec: { containers: [{ name: 'member', image: 'member' }] },
    });
    await subnets.until(({ status }) => status?.v4usingIPs === 1);
    await cluster.kube.delete(Subnet, { name: 'ws-lab-lan' });
    await subnets.until(({ metadata }) => metadata.deletionTimestamp !== undefined);
    await cluster.kube.delete(Pod, { namespace: 'default', name: 'member' });
    await subnets.until(isGone('ws-lab-lan'));
    expect(pods.events.at(-1)?.type).toBe('DELETED');
  });

  test('cannot be called by a number', async () => {
    await start();
    await expect(makeSubnet('1-lan')).rejects.toMatchObject({ status: 422 });
  });
});
