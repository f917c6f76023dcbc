import { describe, expect, test } from 'vitest';
import type { KupenStackMachineStatus } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import { deleteFlavor } from '../../shared/kinds/openstack/flavor.ts';
import { createServer, stopServer } from '../../shared/kinds/openstack/server.ts';
import { toTime } from '../../shared/kubernetes/time.ts';
import { at, start } from '../../test/support/builders/images.ts';
import {
  aFlavor,
  aKupenStackMachine,
  aNetwork,
  aPort,
  aServer,
  aVirtualNetwork,
  heldBy,
  refusing,
} from '../../test/support/builders/openstack.ts';
import { bootedDisk, freeDisk, type Given, reconcile, running } from '../../test/support/harness/provision-server.ts';

const machine = aKupenStackMachine();
const off = aKupenStackMachine({ spec: { running: false } });
const later = 'requeueAfter 2000';

describe('a machine', () => {
  test.each<[string, Given, string[]]>([
    [
      'gets its finalizer before anything',
      { machine: aKupenStackMachine({ finalizers: [] }) },
      ['patchMetadata', 'requeue'],
    ],
    ['whose OpenStack is out of reach is left alone', { fault: 'Unreachable' }, ['patchStatus']],
    [
      'whose credentials get their finalizer in a moment is looked at then',
      { fault: 'CredentialsUnguarded' },
      ['patchStatus', 'requeueAfter 500'],
    ],
    [
      'with two servers is left alone',
      { servers: [aServer(machine), aServer(machine, { id: 'b' })] },
      ['patchStatus', 'recordEvent Warning NotUnique'],
    ],
    ['that runs as requested is reported', running(), ['patchStatus', 'recordEvent Normal Running']],
    [
      'that is not to run, and has no server, gets none',
      { machine: off },
      ['patchStatus', 'recordEvent Normal NotStarted'],
    ],
    [
      'that is stopped as requested is reported',
      running({ machine: off, server: { status: 'SHUTOFF' } }),
      ['patchStatus', 'recordEvent Normal Stopped'],
    ],
    [
      'that is being built is looked at again soon',
      running({ server: { status: 'BUILD', 'OS-EXT-STS:task_state': 'spawning' } }),
      ['patchStatus', later],
    ],
    [
      'whose disk is on its way is looked at again soon',
      running({ disks: [{ ...bootedDisk, status: 'attaching' }] }),
      ['patchStatus', later],
    ],
    [
      'deletes a flavor that is no longer needed',
      running({ unusedFlavors: [aFlavor({ vcpus: 9 })] }),
      ['patchStatus', 'recordEvent Normal Running', 'deleteFlavor id-kup-9c-64m-0s'],
    ],
    [
      'that waits does so, too',
      { disks: [], unusedFlavors: [aFlavor({ vcpus: 9 })] },
      ['patchStatus', 'deleteFlavor id-kup-9c-64m-0s'],
    ],
    [
      'ignores a flavor that another instance deleted first',
      running({ unusedFlavors: [aFlavor()], refusals: refusing(machine, [deleteFlavor(aFlavor().id), 'NotFound: x']) }),
      ['patchStatus', 'recordEvent Normal Running'],
    ],
  ])('%s', (_, given, done) => {
    expect(reconcile(given).done).toEqual(done);
  });
  test('that is as its status says is left alone', () => {
    const said = reconcile(running()).status as Partial<KupenStackMachineStatus>;
    expect(reconcile(running({ machine: aKupenStackMachine({ status: said }) })).actions).toEqual([]);
  });
});

describe('what a machine waits for', () => {
  const on = aKupenStackMachine({ spec: { virtualNetworks: ['net'] } });
  const net = aNetwork(undefined, { name: 'net' });
  test.each<[string, Given, string, string]>([
    ['a network', { machine: on }, 'NetworkMissing', 'Waiting: there is no network net.'],
    [
      'a network that failed',
      { machine: on, networks: [aVirtualNetwork({ status: { phase: 'Failed' } })] },
      'NetworkNotReady',
      'Waiting: network net is Failed.',
    ],
    ['a volume', { disks: [] }, 'VolumeMissing', 'Waiting: there is no volume disk.'],
    [
      "another's volume",
      { disks: [{ ...freeDisk, ...heldBy('id-other') }] },
      'VolumeInUse',
      'Waiting: server id-other has volume disk.',
    ],
    [
      'a disk to boot from',
      { disks: [{ ...freeDisk, bootable: 'false' }] },
      'NoBootableDisk',
      'Expected a bootable volume among diskAttachments',
    ],
  ])('is %s, and nothing is made', (_, given, reason, message) => {
    const found = reconcile(given);
    expect(found.requests).toEqual([]);
    expect(found.status).toMatchObject({ phase: 'Pending', message: expect.stringContaining(message) });
    expect(found.conditions).toMatchObject({
      CloudReady: 'True Reached',
      ServerReady: `False ${reason}`,
      Ready: `False ${reason}`,
    });
  });
  test('is reported for networks and volumes, each in their condition', () => {
    const found = reconcile({ machine: on, disks: [] });
    expect(found.conditions).toMatchObject({
      NetworksReady: 'False NetworkMissing',
      VolumesReady: 'False VolumeMissing',
    });
    expect(reconcile({ machine: on, nets: [net], disks: [] }).conditions).toMatchObject({
      NetworksReady: 'True Found',
    });
  });
  test('is reported for a running server as well, which keeps running', () => {
    const found = reconcile(running({ machine: on, server: {} }));
    expect(found.status).toMatchObject({ phase: 'Running' });
    expect(found.conditions).toMatchObject({ ServerReady: 'True Running', Ready: 'False NetworkMissing' });
  });
});

describe('the status', () => {
  const both = aKupenStackMachine({ spec: { virtualNetworks: ['b', 'a'] } });
  const nets = ['a', 'b'].map((name) => aNetwork(undefined, { name, id: `id-${name}` }));
  const ports = nets.map((net, index) =>
    aPort(both, net, { device_id: 'id-server', fixed_ips: [{ ip_address: `10.0.${index}.5`, subnet_id: '' }] }),
  );
  test('tells what Nova and Neutron say, addresses in the order of the spec', () => {
    expect(reconcile({ ...running({ machine: both, ports }), nets }).status).toMatchObject({
      id: 'id-server',
      node: 'host-1',
      ip: 'b(10.0.1.5), a(10.0.0.5)',
      phase: 'Running',
      readyAt: toTime(start + 10_000),
      observedGeneration: 1,
    });
  });
  test('names no address of a port that another server has', () => {
    const former = ports.map((port) => ({ ...port, device_id: 'id-former' }));
    expect(reconcile({ ...running({ machine: both, ports: former }), nets }).status).not.toHaveProperty('ip');
  });
  test('forgets server, node and addresses with the server', () => {
    const known = aKupenStackMachine({
      status: { id: 'id-server', node: 'host-1', ip: 'a(10.0.0.5)', readyAt: at(1) },
    });
    const found = reconcile({ machine: known, disks: [] }).status;
    expect(found).toMatchObject({ id: null, node: null, ip: null });
    expect(found).not.toHaveProperty('readyAt');
  });
  test('says when it was Ready first, and keeps that', () => {
    const known = aKupenStackMachine({ status: { readyAt: at(1) } });
    expect(reconcile(running({ machine: known })).status).not.toHaveProperty('readyAt');
  });
  test.each<[string, Given, string]>([
    ['Pending where it never had a server', { fault: 'CredentialsMissing' }, 'Pending'],
    [
      'Unknown where it has one',
      { fault: 'Unreachable', machine: aKupenStackMachine({ status: { id: 'x', ip: 'y' } }) },
      'Unknown',
    ],
  ])('is %s and OpenStack is out of reach', (_, given, phase) => {
    const found = reconcile(given);
    expect(found.status).toMatchObject({ phase, message: 'why it is so' });
    for (const field of ['id', 'ip']) expect(found.status).not.toHaveProperty(field);
  });
  test('says that the disk it booted from stays', () => {
    const other = aKupenStackMachine({ spec: { diskAttachments: [{ name: 'data' }] } });
    const data = { ...freeDisk, id: 'id-data', name: 'data', ...heldBy('id-server', '/dev/vdb') };
    const server = { 'os-extended-volumes:volumes_attached': [{ id: 'id-disk' }, { id: 'id-data' }] };
    const found = reconcile(running({ machine: other, disks: [bootedDisk, data], server }));
    expect(found.status).toMatchObject({
      phase: 'Running',
      message: expect.stringContaining('booted from volume disk'),
    });
    expect(found.conditions).toMatchObject({ ServerReady: 'True Running', Ready: 'False RootDiskKept' });
  });
});

describe('a request that is refused', () => {
  const create = createServer({
    uid: 'uid-demo',
    name: 'demo',
    flavor: '',
    keyPair: undefined,
    ports: [],
    volumes: [],
  });
  test.each(['QuotaExceeded', 'Conflict', 'Refused', 'Unavailable'])('for %s leaves a machine Pending', (reason) => {
    const found = reconcile({ refusals: refusing(machine, [create, `${reason}: for this: and that`]) });
    expect(found.requests).toEqual([]);
    expect(found.status).toMatchObject({
      phase: 'Pending',
      message: 'OpenStack refuses the machine as it is asked for: for this: and that.',
    });
    expect(found.conditions).toMatchObject({ ServerReady: `False ${reason}`, Ready: `False ${reason}` });
  });
  test.each([
    ['Conflict', true],
    ['Unavailable', true],
    ['Refused', false],
    ['QuotaExceeded', false],
    ['Forbidden', false],
  ])('for %s leaves a running server running, and is tried again soon: %s', (reason, isTried) => {
    const found = reconcile(
      running({ machine: off, refusals: refusing(off, [stopServer('id-server'), `${reason}: x`]) }),
    );
    expect(found.status).toMatchObject({ phase: 'Running', message: 'OpenStack refuses a change: x.' });
    expect(found.conditions).toMatchObject({ ServerReady: `False ${reason}`, Ready: `False ${reason}` });
    expect(found.done.includes(later)).toBe(isTried);
  });
});
