import { describe, expect, test } from 'vitest';
import { deleteFlavor } from '../../shared/kinds/openstack/flavor.ts';
import { deletePort } from '../../shared/kinds/openstack/network.ts';
import { deleteServer } from '../../shared/kinds/openstack/server.ts';
import {
  aFlavor,
  aKupenStackMachine,
  aNetwork,
  aPort,
  aServer,
  refusing,
} from '../../test/support/builders/openstack.ts';
import { bootedDisk, type Given, reconcile } from '../../test/support/harness/provision-server.ts';

const leaving = aKupenStackMachine({ deleted: true, status: { id: 'id-server', phase: 'Running' } });
const net = aNetwork(undefined, { id: 'id-net', name: 'net' });
const port = aPort(leaving, net);
const server = aServer(leaving);
const going = aServer(leaving, { 'OS-EXT-STS:task_state': 'deleting' });
const rest = { ports: [port], hasKeyPair: true, unusedFlavors: [aFlavor()] };

describe('a deleted machine', () => {
  test.each<[string, Given, string[]]>([
    ['loses its server first', { servers: [server], ...rest }, ['deleteServer id-server']],
    [
      'loses a server that is in ERROR',
      { servers: [aServer(leaving, { status: 'ERROR' })] },
      ['deleteServer id-server'],
    ],
    [
      'loses all servers that are its own',
      { servers: [server, aServer(leaving, { id: 'b' })] },
      ['deleteServer id-server', 'deleteServer b'],
    ],
    [
      'waits for a server that is going',
      { servers: [going], disks: [bootedDisk], ...rest },
      ['patchStatus', 'requeueAfter 2000'],
    ],
    ['loses ports and key pair then', rest, ['deletePort id-port-net', 'deleteKeyPair']],
    ['loses its flavor last', { unusedFlavors: [aFlavor()] }, ['deleteFlavor id-kup-1c-64m-0s']],
    ['is let go once nothing is left', { hasKeyPair: false }, ['patchMetadata']],
    ['is let go although its status names a server', {}, ['patchMetadata']],
    ['is let go where its project is gone', { fault: 'ProjectMissing' }, ['patchMetadata']],
    ['stays where OpenStack is out of reach', { fault: 'Unreachable' }, ['patchStatus']],
    ['stays where the credentials are gone', { fault: 'CredentialsMissing' }, ['patchStatus']],
    [
      'is released if another instance was faster',
      { ports: [port], refusals: refusing(leaving, [deletePort(port.id), 'NotFound: x']) },
      ['patchMetadata'],
    ],
    [
      'stays where a port does',
      { ports: [port], refusals: refusing(leaving, [deletePort(port.id), 'Conflict: x']) },
      ['patchStatus', 'requeueAfter 2000'],
    ],
    [
      'stays where its server is locked',
      { servers: [server], refusals: refusing(leaving, [deleteServer('id-server'), 'Conflict: locked']) },
      ['patchStatus', 'requeueAfter 2000'],
    ],
    [
      'without our finalizer is not ours',
      { machine: aKupenStackMachine({ deleted: true, finalizers: ['other/one'] }), servers: [server] },
      [],
    ],
  ])('%s', (_, given, done) => {
    expect(reconcile({ machine: leaving, ...given }).done).toEqual(done);
  });
  test('says why it is still there', () => {
    const refusals = refusing(leaving, [deleteServer('id-server'), 'Conflict: It is locked']);
    const found = reconcile({ machine: leaving, servers: [server], refusals });
    expect(found.status).toMatchObject({ phase: 'Terminating', message: 'It is locked' });
    expect(found.conditions).toEqual({
      CloudReady: 'True Reached',
      Ready: 'False Conflict',
      Reconciling: 'True Conflict',
    });
  });
  test("leaves another's finalizer", () => {
    const machine = aKupenStackMachine({ deleted: true, finalizers: ['other/one', 'kupenstack.io/finalizer'] });
    expect(reconcile({ machine }).actions).toMatchObject([{ metadata: { finalizers: ['other/one'] } }]);
  });
  test('of an account that may not delete flavors is still released', () => {
    const refusals = refusing(leaving, [deleteFlavor('id-kup-1c-64m-0s'), 'Forbidden: by policy']);
    expect(reconcile({ machine: leaving, unusedFlavors: [aFlavor()], refusals }).done).toEqual(['patchMetadata']);
  });
  test('stays while OpenStack gives no answer about its flavor', () => {
    const refusals = refusing(leaving, [deleteFlavor('id-kup-1c-64m-0s'), 'Unavailable: no answer']);
    expect(reconcile({ machine: leaving, unusedFlavors: [aFlavor()], refusals }).done).toEqual([
      'patchStatus',
      'requeueAfter 2000',
    ]);
  });
  test('stays where its key pair does, also when a port was gone already', () => {
    const refused = refusing(leaving, [deletePort(port.id), 'NotFound: x']);
    refused.set('uid-demo deleteKeyPair ', { reason: 'Unavailable', message: 'no answer' });
    expect(reconcile({ machine: leaving, ports: [port], hasKeyPair: true, refusals: refused }).done).not.toContain(
      'patchMetadata',
    );
  });
});
