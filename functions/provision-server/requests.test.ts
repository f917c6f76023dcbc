import { describe, expect, test } from 'vitest';
import { createFlavor } from '../../shared/kinds/openstack/flavor.ts';
import { createKeyPair } from '../../shared/kinds/openstack/key-pair.ts';
import { createPort } from '../../shared/kinds/openstack/network.ts';
import type { OpenStackRequest } from '../../shared/kinds/openstack/request.ts';
import { attachVolume, createServer, resizeServer, stopServer } from '../../shared/kinds/openstack/server.ts';
import { at } from '../../test/support/builders/images.ts';
import {
  aFlavor,
  aKupenStackMachine,
  aNetwork,
  aPort,
  heldBy,
  refusing,
} from '../../test/support/builders/openstack.ts';
import { bootedDisk, freeDisk, type Given, reconcile, running } from '../../test/support/harness/provision-server.ts';

const net = aNetwork(undefined, { id: 'id-net', name: 'net' });
const net2 = aNetwork(undefined, { id: 'id-net2', name: 'net2' });
const publicKey = 'ssh-ed25519 AAAA';

describe('a machine without a server', () => {
  const on = aKupenStackMachine({ spec: { virtualNetworks: ['net', 'net2'], publicKey } });
  const nets = [net, net2];
  const ports = [aPort(on, net2), aPort(on, net)];
  test.each<[string, Given, string[]]>([
    ['is given a server if all it needs exists', {}, ['createServer']],
    ['is given its flavor first', { flavors: [] }, ['createFlavor kup-1c-64m-0s']],
    [
      'is given flavor, key pair and ports at once',
      { machine: on, nets, flavors: [] },
      ['createFlavor kup-1c-64m-0s', 'createKeyPair', 'createPort id-net', 'createPort id-net2'],
    ],
    [
      'is given the port that is missing',
      { machine: on, nets, hasKeyPair: true, ports: [aPort(on, net)] },
      ['createPort id-net2'],
    ],
    ['then is given its server', { machine: on, nets, hasKeyPair: true, ports }, ['createServer']],
    [
      'of another size is given another flavor',
      { machine: aKupenStackMachine({ spec: { vcpu: 2 } }) },
      ['createFlavor kup-2c-64m-0s'],
    ],
    [
      'uses no flavor of its size that another user owns',
      { flavors: [aFlavor({}, { name: 'm1.tiny' })] },
      ['createFlavor kup-1c-64m-0s'],
    ],
  ])('%s', (_, given, done) => {
    expect(reconcile(given).done).toEqual(done);
  });
  test('asks for flavor, key pair and port of that size, key and name', () => {
    expect(reconcile({ machine: on, nets: [net, net2], flavors: [], ports: [aPort(on, net2)] }).requests).toEqual([
      createFlavor({ vcpus: 1, ram: 64, swap: 0 }),
      createKeyPair('uid-demo', publicKey),
      createPort('uid-demo', 'demo-net', 'id-net'),
    ]);
  });
  test('asks for a server with its ports in the order of the spec', () => {
    const [request] = reconcile({ machine: on, nets, hasKeyPair: true, ports }).requests;
    const common = { uid: 'uid-demo', name: 'demo', flavor: 'id-kup-1c-64m-0s', keyPair: 'kup-uid-demo' };
    expect(request).toEqual(createServer({ ...common, ports: ['id-port-net', 'id-port-net2'], volumes: ['id-disk'] }));
  });
  test('boots from the first bootable volume, the others follow in order', () => {
    const machine = aKupenStackMachine({ spec: { diskAttachments: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] } });
    const disk = (name: string, bootable: string) => ({ ...freeDisk, id: `id-${name}`, name, bootable });
    const [request] = reconcile({
      machine,
      disks: [disk('a', 'false'), disk('b', 'true'), disk('c', 'true')],
    }).requests;
    const { body } = { ...request };
    const { server } = body as ReturnType<typeof JSON.parse>;
    const order = server.block_device_mapping_v2.map((one: { uuid: string; boot_index: number }) => [
      one.uuid,
      one.boot_index,
    ]);
    expect(order).toEqual([
      ['id-b', 0],
      ['id-a', -1],
      ['id-c', -1],
    ]);
    expect(server.networks).toBe('none');
  });
  test.each([
    ['500Mi', '1Gi', 500, 1024],
    ['127.5Mi', '0', 128, 0],
    ['1G', '1M', 954, 1],
  ])('of %s memory and %s swap is given %i and %i MiB', (memory, swap, ram, swapped) => {
    const machine = aKupenStackMachine({ spec: { memory, swap } });
    expect(reconcile({ machine }).requests).toEqual([createFlavor({ vcpus: 1, ram, swap: swapped })]);
  });
  test('of an account that may make no flavor takes another of its very size', () => {
    const machine = aKupenStackMachine();
    const refusals = refusing(machine, [createFlavor({ vcpus: 1, ram: 64, swap: 0 }), 'Forbidden: by policy']);
    const others = [
      aFlavor({}, { id: 'with-disk', name: 'x', disk: 1 }),
      aFlavor({ ram: 65 }),
      aFlavor({}, { id: 'tiny', name: 'm1.tiny' }),
    ];
    expect(reconcile({ refusals, flavors: others }).requests).toMatchObject([
      { body: { server: { flavorRef: 'tiny' } } },
    ]);
    const none = reconcile({ refusals, flavors: [] });
    expect(none.status).toMatchObject({ phase: 'Failed' });
    expect(none.conditions).toMatchObject({ Ready: 'False FlavorMissing', ServerReady: 'False FlavorMissing' });
  });
});

describe('a server', () => {
  const more = aKupenStackMachine({ spec: { diskAttachments: [{ name: 'disk' }, { name: 'data' }] } });
  const data = { ...freeDisk, id: 'id-data', name: 'data' };
  const held = { ...data, ...heldBy('id-server', '/dev/vdb') };
  const both = { 'os-extended-volumes:volumes_attached': [{ id: 'id-disk' }, { id: 'id-data' }] };
  const resizing = { status: 'VERIFY_RESIZE' };
  const large = aKupenStackMachine({ spec: { vcpu: 2 } });
  const off = aKupenStackMachine({ spec: { running: false } });
  test.each<[string, Given, string[]]>([
    ['that is as asked for is asked nothing', running(), []],
    ['is resized', running({ machine: large, flavors: [aFlavor({ vcpus: 2 })] }), ['resizeServer']],
    ['is resized once its flavor exists', running({ machine: large }), ['createFlavor kup-2c-64m-0s']],
    [
      'is resized before it is stopped',
      running({ machine: aKupenStackMachine({ spec: { vcpu: 2, running: false } }), flavors: [aFlavor({ vcpus: 2 })] }),
      ['resizeServer'],
    ],
    ['keeps its new size', running({ machine: large, server: resizing }), ['confirmResize']],
    [
      'is waited for while its resize is confirmed',
      running({ server: { ...resizing, 'OS-EXT-STS:task_state': 'resize_confirming' } }),
      [],
    ],
    ['is stopped', running({ machine: off }), ['stopServer']],
    ['is started', running({ server: { status: 'SHUTOFF' } }), ['startServer']],
    ['that is stopped as asked for is left alone', running({ machine: off, server: { status: 'SHUTOFF' } }), []],
    ['with a task is waited for', running({ machine: large, server: { 'OS-EXT-STS:task_state': 'powering-off' } }), []],
    ['that a user paused is left alone', running({ machine: off, server: { status: 'PAUSED' } }), []],
    ['is given a volume', running({ machine: more, disks: [bootedDisk, data] }), ['attachVolume id-data']],
    [
      'is given a volume once',
      running({ machine: more, disks: [bootedDisk, { ...held, status: 'attaching' }], server: both }),
      [],
    ],
    [
      'releases its own for one that another server still has, which may wait for this one',
      running({
        machine: aKupenStackMachine({ spec: { diskAttachments: [{ name: 'disk' }, { name: 'theirs' }] } }),
        disks: [bootedDisk, held, { ...freeDisk, id: 'id-theirs', name: 'theirs', ...heldBy('id-other') }],
        server: both,
      }),
      ['detachVolume id-data'],
    ],
    ['loses a volume', running({ disks: [bootedDisk, held], server: both }), ['detachVolume id-data']],
    ['loses a volume once', running({ disks: [bootedDisk, { ...held, status: 'detaching' }], server: both }), []],
    [
      'keeps the volume it booted from',
      running({
        machine: aKupenStackMachine({ spec: { diskAttachments: [{ name: 'data' }] } }),
        disks: [bootedDisk, held],
        server: both,
      }),
      [],
    ],
    [
      'keeps all volumes while a name stands for nothing',
      running({
        machine: aKupenStackMachine({ spec: { diskAttachments: [{ name: 'disk' }, { name: 'gone' }] } }),
        disks: [bootedDisk, held],
        server: both,
      }),
      [],
    ],
  ])('%s', (_, given, done) => {
    expect(
      reconcile(given).requests.map(({ operation, about }) => [operation, about].filter(Boolean).join(' ')),
    ).toEqual(done);
  });
  test('has its root disk at the first device where Nova does not say which it is', () => {
    const server = { ...both, 'OS-EXT-SRV-ATTR:root_device_name': undefined };
    const machine = aKupenStackMachine({ spec: { diskAttachments: [{ name: 'data' }] } });
    expect(reconcile(running({ machine, disks: [bootedDisk, held], server })).requests).toEqual([]);
    expect(reconcile(running({ disks: [bootedDisk, held], server })).done).toContain('detachVolume id-data');
  });
});

describe('a change that is refused holds up no other:', () => {
  const change = { diskAttachments: [{ name: 'disk' }, { name: 'data' }], running: false };
  const machine = aKupenStackMachine({ spec: { vcpu: 2, ...change } });
  const disks = [bootedDisk, { ...freeDisk, id: 'id-data', name: 'data' }];
  type Refusing = [OpenStackRequest, string];
  const tooLarge: Refusing = [resizeServer('id-server', 'id-kup-2c-64m-0s'), 'QuotaExceeded: cores'];
  const noDisk: Refusing = [attachVolume('id-server', 'id-data'), 'Refused: by Nova'];
  const noFlavor: Refusing = [createFlavor({ vcpus: 2, ram: 64, swap: 0 }), 'Forbidden: by policy'];
  const flavors = [aFlavor({ vcpus: 2 })];
  test.each<[string, Given, string[]]>([
    ['the size first', { flavors }, ['resizeServer']],
    ['then disks', { flavors, refusals: refusing(machine, tooLarge) }, ['attachVolume']],
    ['then running or not', { flavors, refusals: refusing(machine, tooLarge, noDisk) }, ['stopServer']],
    ['also where there is no flavor', { flavors: [], refusals: refusing(machine, noFlavor, noDisk) }, ['stopServer']],
  ])('%s', (_, given, done) => {
    expect(reconcile(running({ machine, disks, ...given })).requests.map(({ operation }) => operation)).toEqual(done);
  });
  test('the first refusal is reported', () => {
    const refusals = refusing(machine, tooLarge, noDisk, [stopServer('id-server'), 'Conflict: busy']);
    expect(reconcile(running({ machine, disks, flavors, refusals })).conditions).toMatchObject({
      Ready: 'False QuotaExceeded',
    });
    const without = refusing(machine, noFlavor, noDisk, [stopServer('id-server'), 'Conflict: busy']);
    expect(reconcile(running({ machine, disks, flavors: [], refusals: without })).conditions).toMatchObject({
      Ready: 'False FlavorMissing',
    });
  });
});

describe('the networks of a server', () => {
  const on = (...names: string[]) => aKupenStackMachine({ spec: { virtualNetworks: names } });
  const machine = on('net');
  const nets = [net, net2];
  const bound = aPort(machine, net, { device_id: 'id-server' });
  const loose = aPort(machine, net);
  const second = aPort(machine, net2, { device_id: 'id-server' });
  test.each<[string, Given, string[]]>([
    ['are as asked for', { machine, ports: [bound] }, []],
    ['get a port', { machine, ports: [] }, ['createPort id-net']],
    ['have it attached then', { machine, ports: [loose] }, ['attachPort id-port-net']],
    ['lose a port', { machine, ports: [bound, second] }, ['detachPort id-port-net2']],
    [
      'and have it deleted then',
      { machine, ports: [bound, { ...second, device_id: '' }] },
      ['deletePort id-port-net2'],
    ],
    [
      'lose a second port on the same network, which an answer that came late may have left',
      { machine, ports: [{ ...loose, id: 'id-twin' }, bound] },
      ['deletePort id-twin'],
    ],
    [
      'get one of two ports on the same network',
      { machine, ports: [loose, { ...loose, id: 'id-twin' }] },
      ['deletePort id-twin', 'attachPort id-port-net'],
    ],
    [
      'are changed one for another',
      { machine: on('net2'), ports: [bound] },
      ['detachPort id-port-net', 'createPort id-net2'],
    ],
    [
      'keep their ports while a name stands for nothing',
      { machine: on('net2', 'gone'), ports: [bound] },
      ['createPort id-net2'],
    ],
    [
      "keep a port that is bound to another server's name",
      { machine, ports: [{ ...bound, device_id: 'id-former' }] },
      [],
    ],
  ])('%s', (_, given, done) => {
    expect(
      reconcile({ ...running(given), nets }).requests.map(({ operation, about }) => `${operation} ${about}`),
    ).toEqual(done);
  });
});

describe('a resize that Nova took and gave up', () => {
  const wants = (observedGeneration: number) =>
    aKupenStackMachine({ spec: { vcpu: 9999 }, status: { phase: 'Running', id: 'id-server', observedGeneration } });
  const flavors = [aFlavor({ vcpus: 9999 })];
  /** Nova tells no zone: it is UTC. */
  const resize = (seconds: number, message: string | null = 'Error') => ({
    action: 'resize',
    message,
    start_time: at(seconds).replace('Z', '000'),
  });
  const givenUpAt = (seconds: number) => ({ updated_at: at(seconds).replace('Z', '000') });
  const given = (actions: Given['actions'], machine = wants(1)) => running({ machine, flavors, actions });

  test('is reported, and not requested again before its time', () => {
    const { done, status, conditions } = reconcile(given([resize(5)]));
    expect(done.filter((one) => one.includes('resize'))).toEqual([]);
    expect(conditions).toMatchObject({ Ready: 'False ResizeFailed' });
    expect(status?.message).toContain(
      `gave it up: no host may have room for it. It is retried at ${at(5 + 300).slice(0, 19)}Z`,
    );
  });
  test('that took Nova longer than the back-off is not asked for again at once', () => {
    const { done, status } = reconcile(given([{ ...resize(-900), ...givenUpAt(5) }]));
    expect(done.filter((one) => one.includes('resize'))).toEqual([]);
    expect(status?.message).toContain(`It is retried at ${at(5 + 300).slice(0, 19)}Z`);
  });
  test.each([
    ['once that is over', given([{ ...resize(-900), ...givenUpAt(-300) }])],
    ['once that is over since it began, where Nova does not tell its end', given([resize(-300)])],
    ['at once where the spec is another by now', given([resize(5)], wants(0))],
    ['where a later one was not given up', given([resize(5, null), resize(1)])],
  ])('is asked for again %s', (_, found) => {
    expect(reconcile(found).done).toContain('resizeServer');
  });
  test('holds up no stop', () => {
    const machine = wants(1);
    const stopped = { ...machine, spec: { ...machine.spec, running: false } };
    expect(reconcile(given([resize(5)], stopped)).done).toContain('stopServer');
  });
});
