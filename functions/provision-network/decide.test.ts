import { describe, expect, test } from 'vitest';
import type { Action } from '../../shared/actions.ts';
import type { VirtualNetwork, VirtualNetworkStatus } from '../../shared/kinds/kupenstack/virtual-network.ts';
import {
  createNetwork,
  createSubnet,
  deleteNetwork,
  type Network,
  type Subnet,
  updateSubnet,
} from '../../shared/kinds/openstack/network.ts';
import { start } from '../../test/support/builders/images.ts';
import {
  aNetwork,
  aSubnet,
  aVirtualNetwork,
  conditionsIn,
  refusing,
  requestsIn,
  saying,
  statusIn,
} from '../../test/support/builders/openstack.ts';
import { decide } from './decide.ts';
import type { Observed } from './observed.ts';

type Given = Partial<Omit<Observed, 'cloud'>> & { networks?: Network[]; subnets?: Subnet[]; fault?: string };

const seeing = ({ networks = [], subnets = [], fault, ...more }: Given): Observed => ({
  nowMs: start + 10_000,
  refusals: new Map(),
  network: aVirtualNetwork(),
  cloud: fault
    ? { fault: { reason: fault as 'Unreachable', message: 'why it is so' } }
    : { networks: networks, subnets: subnets },
  ...more,
});
const reconcile = (given: Given = {}) => decide(seeing(given));
const status = (actions: readonly Action[]) => statusIn<VirtualNetworkStatus>(actions);

/** A network that its status reports as created. */
const known = (more: Parameters<typeof aVirtualNetwork>[0] = {}) =>
  aVirtualNetwork({
    ...more,
    status: { id: 'id-net', subnetID: 'id-net-subnet', phase: 'Available', ready: true, ...more.status },
  });
const made = (network: VirtualNetwork, subnet: Partial<Subnet> = {}) => ({
  network,
  networks: [aNetwork(network)],
  subnets: [aSubnet(network, subnet)],
});

describe('a network', () => {
  const network = aVirtualNetwork();
  const asked = aVirtualNetwork({ spec: { cidr: '10.9.0.0/16', gatewayIP: '10.9.0.9', mtu: 1400 } });
  const bare = { networks: [aNetwork(network, { subnets: [] })] };
  test.each<[string, Given, string[]]>([
    [
      'gets its finalizer before anything',
      { network: aVirtualNetwork({ finalizers: [] }) },
      ['patchMetadata', 'requeue'],
    ],
    ['is made', {}, ['createNetwork']],
    [
      'is created although its status has an id, whose network no longer exists',
      { network: known() },
      ['createNetwork'],
    ],
    [
      "is created although another user's network has its name",
      { networks: [aNetwork(undefined, { name: 'net' })] },
      ['createNetwork'],
    ],
    ['then gets its subnet', bare, ['createSubnet']],
    [
      "gets its subnet although another user's exists",
      { ...bare, subnets: [aSubnet(aVirtualNetwork({ name: 'x' }))] },
      ['createSubnet'],
    ],
    ['that exists is reported', made(network), ['patchStatus', 'recordEvent Normal Available']],
    ['gets another mtu', made(asked, { gateway_ip: '10.9.0.9' }), ['updateNetwork']],
    ['gets mtu and gateway at once', made(asked), ['updateNetwork', 'updateSubnet']],
    [
      'keeps the mtu that Neutron chose',
      made(aVirtualNetwork({ status: { phase: 'Available' } })),
      ['patchStatus', 'recordEvent Normal Available'],
    ],
    [
      'that exists twice is left alone',
      { networks: [aNetwork(network), aNetwork(network, { id: 'id-two' })] },
      ['patchStatus', 'recordEvent Warning NotUnique'],
    ],
    ['whose OpenStack is out of reach is left alone', { fault: 'Unreachable' }, ['patchStatus']],
    [
      'whose credentials get their finalizer in a moment is looked at then',
      { fault: 'CredentialsUnguarded' },
      ['patchStatus', 'requeueAfter 500'],
    ],
  ])('%s', (_, given, done) => {
    expect(saying(reconcile(given))).toEqual(done);
  });

  test('is asked for by name, uid and mtu', () => {
    expect(requestsIn(reconcile({ network: asked }))).toEqual([createNetwork('uid-net', 'net', 1400)]);
  });
  test('keeps the finalizers that others put there', () => {
    const [patch] = reconcile({ network: aVirtualNetwork({ finalizers: ['other/one'] }) });
    expect(patch).toMatchObject({ metadata: { finalizers: ['other/one', 'kupenstack.io/finalizer'] } });
  });
  test('has the addresses of its spec, or else free ones', () => {
    const named = { ...asked, networks: [aNetwork(asked, { subnets: [], mtu: 1400 })] };
    const [subnet] = requestsIn(reconcile({ network: asked, networks: named.networks }));
    const of = { uid: 'uid-net', name: 'net', networkId: 'id-net', cidr: '10.9.0.0/16' };
    expect(subnet).toEqual(createSubnet(of, { enable_dhcp: true, gateway_ip: '10.9.0.9' }));
    const cidrAmong = (subnets: Subnet[]) => {
      const [request] = requestsIn(reconcile({ ...bare, subnets }));
      const { subnet } = { ...(request?.body as { subnet?: { cidr: string } } | undefined) };
      return subnet?.cidr ?? '';
    };
    const cidr = cidrAmong([]);
    expect(cidr).toMatch(/^10\.\d+\.\d+\.0\/24$/);
    expect(cidrAmong([aSubnet(aVirtualNetwork({ name: 'x' }), { cidr })])).not.toBe(cidr);
  });
  test('is Failed where no addresses are free', () => {
    const found = reconcile({ ...bare, subnets: [aSubnet(aVirtualNetwork({ name: 'x' }), { cidr: '10.0.0.0/8' })] });
    expect(status(found)).toMatchObject({ phase: 'Failed', id: 'id-net', ready: false });
    expect(conditionsIn(found)).toEqual({
      CloudReady: 'True Reached',
      Ready: 'False NoFreeAddresses',
      Stalled: 'True NoFreeAddresses',
    });
  });
  test('has no say in what is done with a subnet it does not ask for', () => {
    expect(requestsIn(reconcile(made(network, { gateway_ip: '10.1.2.200', cidr: '10.1.0.0/16' })))).toEqual([]);
  });
  test('leaves a subnet alone that a user added to it', () => {
    const theirs = aSubnet(network, { id: 'id-theirs', description: '', enable_dhcp: false });
    const found = reconcile({ networks: [aNetwork(network)], subnets: [theirs, aSubnet(network)] });
    expect(requestsIn(found)).toEqual([]);
  });
});

describe('the status', () => {
  const network = aVirtualNetwork();
  test('tells what Neutron says', () => {
    expect(status(reconcile(made(network)))).toMatchObject({
      id: 'id-net',
      subnetID: 'id-net-subnet',
      cidr: '10.1.2.0/24',
      gatewayIP: '10.1.2.1',
      phase: 'Available',
      ready: true,
      observedGeneration: 1,
    });
  });
  test('is written once', () => {
    const said = { ...status(reconcile(made(network))) } as Partial<VirtualNetworkStatus>;
    expect(reconcile(made(aVirtualNetwork({ status: said })))).toEqual([]);
  });
  test.each<[string, Given, string, boolean | undefined, string]>([
    ['Pending where it was never made', { fault: 'CredentialsMissing' }, 'Pending', false, 'CredentialsMissing'],
    ['Unknown where it was', { fault: 'Unreachable', network: known() }, 'Unknown', false, 'Unreachable'],
  ])('is %s and OpenStack is out of reach', (_, given, phase, ready, reason) => {
    const found = reconcile(given);
    expect(status(found)).toMatchObject({ phase, ready, message: 'why it is so' });
    expect(conditionsIn(found)).toEqual({
      CloudReady: `False ${reason}`,
      Ready: `False ${reason}`,
      Reconciling: `True ${reason}`,
    });
  });
  test('keeps what it knew while OpenStack is out of reach', () => {
    const found = status(reconcile({ fault: 'Unreachable', network: known({ status: { cidr: '10.1.2.0/24' } }) }));
    for (const field of ['id', 'subnetID', 'cidr'] as const) expect(found).not.toHaveProperty(field);
  });
  test('forgets the gateway that is no more', () => {
    const before = known({ status: { gatewayIP: '10.1.2.1' } });
    expect(status(reconcile(made(before, { gateway_ip: null })))).toMatchObject({ gatewayIP: null });
  });
  test('names those that are too many', () => {
    const networks = ['id-b', 'id-a'].map((id) => aNetwork(network, { id }));
    expect(status(reconcile({ networks }))?.message).toContain('found id-a, id-b');
  });
});

describe('a request that is refused', () => {
  const network = known();
  const create = createNetwork('uid-net', 'net', undefined);
  test.each([
    ['QuotaExceeded: too many', 'Pending', 'QuotaExceeded'],
    ['Conflict: overlaps', 'Pending', 'Conflict'],
    ['Unavailable: no answer', 'Pending', 'Unavailable'],
    ['Refused: mtu', 'Failed', 'Refused'],
    ['Forbidden: by policy', 'Failed', 'Forbidden'],
  ])('for %s leaves a network that is not there %s', (words, phase, reason) => {
    const found = reconcile({ refusals: refusing(network, [create, words]) });
    expect(requestsIn(found)).toEqual([]);
    expect(status(found)).toMatchObject({ phase, ready: false });
    expect(status(found)?.message).toMatch(/^OpenStack refuses the network as it is asked for: .*\.$/);
    expect(conditionsIn(found).Ready).toBe(`False ${reason}`);
  });
  test('leaves an existing network in use, and reports why it differs from the spec', () => {
    const asked = aVirtualNetwork({ spec: { gatewayIP: '10.1.2.9' } });
    const refusals = refusing(asked, [updateSubnet('id-net-subnet', {}), 'Conflict: a port has 10.1.2.1']);
    const found = reconcile({ ...made(asked), refusals });
    expect(status(found)).toMatchObject({ phase: 'Available', ready: true });
    expect(conditionsIn(found).Ready).toBe('False Conflict');
  });
  test('holds up no other', () => {
    const asked = aVirtualNetwork({ spec: { gatewayIP: '10.1.2.9', mtu: 1400 } });
    const refusals = refusing(asked, [updateSubnet('id-net-subnet', {}), 'Conflict: x']);
    expect(saying(reconcile({ ...made(asked), refusals }))).toEqual(['updateNetwork']);
  });
  test('of another object is not its own', () => {
    const refusals = refusing(aVirtualNetwork({ name: 'other' }), [create, 'Refused: x']);
    expect(saying(reconcile({ refusals }))).toEqual(['createNetwork']);
  });
});

describe('a deleted network', () => {
  const leaving = known({ deleted: true });
  const there = made(leaving);
  const inUse = refusing(leaving, [deleteNetwork('id-net'), 'Conflict: Unable to complete operation: ports in use']);
  test.each<[string, Given, string[]]>([
    ['is deleted', there, ['deleteNetwork id-net']],
    [
      'is deleted also if it exists twice',
      { ...there, networks: [...there.networks, aNetwork(leaving, { id: 'b' })] },
      ['deleteNetwork id-net', 'deleteNetwork b'],
    ],
    ['is let go once nothing is left', { network: leaving }, ['patchMetadata']],
    [
      "is released although another user's network has its name",
      { network: leaving, networks: [aNetwork(undefined, { name: 'net' })] },
      ['patchMetadata'],
    ],
    ['is let go where its project is gone', { network: leaving, fault: 'ProjectMissing' }, ['patchMetadata']],
    ['stays where OpenStack is out of reach', { network: leaving, fault: 'Unreachable' }, ['patchStatus']],
    ['stays where the credentials are gone', { network: leaving, fault: 'CredentialsMissing' }, ['patchStatus']],
    [
      'stays while machines are on it, and is tried again soon',
      { ...there, refusals: inUse },
      ['patchStatus', 'requeueAfter 5000'],
    ],
    ['without our finalizer is not ours', { network: known({ deleted: true, finalizers: ['other/one'] }) }, []],
  ])('%s', (_, given, done) => {
    expect(saying(reconcile(given))).toEqual(done);
  });
  test('says what holds it', () => {
    const found = reconcile({ ...there, refusals: inUse });
    expect(status(found)).toMatchObject({ phase: 'Terminating', ready: false });
    expect(conditionsIn(found)).toMatchObject({ DeletionHeld: 'True InUse', Ready: 'False InUse' });
  });
  test('says that OpenStack is out of reach', () => {
    const found = reconcile({ network: leaving, fault: 'Unreachable' });
    expect(status(found)).toMatchObject({ phase: 'Terminating', ready: false });
    expect(conditionsIn(found)).toEqual({
      CloudReady: 'False Unreachable',
      Ready: 'False Unreachable',
      Reconciling: 'True Unreachable',
    });
  });
  test("leaves another's finalizer", () => {
    const shared = known({ deleted: true, finalizers: ['other/one', 'kupenstack.io/finalizer'] });
    expect(reconcile({ network: shared })).toMatchObject([{ metadata: { finalizers: ['other/one'] } }]);
  });
});
