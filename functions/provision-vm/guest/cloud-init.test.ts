import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { Secret } from '../../../shared/kinds/core/secret.ts';
import { KubeVirtMachine } from '../../../shared/kinds/kubevirt/virtual-machine.ts';
import type { User, VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { aVirtualMachine, type MachineOptions } from '../../../test/support/builders/machines.ts';
import {
  aMadeMachine,
  changed,
  type Given,
  madeIn,
  reconcile,
  textIn,
} from '../../../test/support/harness/provision-vm.ts';
import { nicsOf } from '../network/networks.ts';

type Spec = Partial<VirtualMachine['spec']>;

/** The cloud-init data of such a machine, and the rest of the reconcile. */
function told(spec: Spec, given: Given = {}, options: MachineOptions = {}) {
  const found = reconcile({ machine: aVirtualMachine({ ...options, spec }), ...given });
  const secret = madeIn(found.actions, Secret);
  return {
    ...found,
    text: textIn(secret, 'userdata'),
    user: parse(textIn(secret, 'userdata'), { version: '1.1' }) as Record<string, unknown> & { users: unknown[] },
    network: parse(textIn(secret, 'networkdata'), { version: '1.1' }) as unknown,
    machineMade: madeIn(found.actions, KubeVirtMachine),
  };
}

const userOf = (user: User, given: Given = {}) => told({ users: [user] }, given).user.users[1];

describe('users', () => {
  test('of the seed: a legal login, its password, and the default user of the image', () => {
    const { text, user, warnings } = told({
      name: 'demo-vm',
      users: [
        {
          name: 'demo user',
          plain_text_passwd: 'demo-pwd',
          lock_passwd: false,
          sudo: 'ALL=(ALL) NOPASSWD:ALL',
          groups: 'sudo',
        },
      ],
    });
    expect(text.split('\n')[0]).toBe('#cloud-config');
    expect(user).toEqual({
      hostname: 'demo-vm',
      preserve_hostname: false,
      ssh_pwauth: true,
      users: [
        'default',
        {
          name: 'demo-user',
          gecos: 'demo user',
          plain_text_passwd: 'demo-pwd',
          lock_passwd: false,
          sudo: 'ALL=(ALL) NOPASSWD:ALL',
          groups: 'sudo',
        },
      ],
    });
    expect(warnings).toEqual(['UserRenamed']);
  });
  test('without a password have none, and no one else has one then', () => {
    const { user } = told({ users: [{ name: 'ops', ssh_authorized_keys: ['ssh-ed25519 AAAA'] }] });
    expect(user.users[1]).toEqual({ name: 'ops', gecos: 'ops', ssh_authorized_keys: ['ssh-ed25519 AAAA'] });
    expect(user).not.toHaveProperty('ssh_pwauth');
  });
  test('there are none: the image keeps its own', () => {
    expect(told({}).user).toEqual({ hostname: 'demo', preserve_hostname: false });
  });
  test.each<[string, User, object]>([
    ['a hashed one', { name: 'ops', hashed_passwd: '$6$abc' }, { hashed_passwd: '$6$abc', lock_passwd: false }],
    ['a locked one', { name: 'ops', hashed_passwd: '$6$abc', lock_passwd: true }, { lock_passwd: true }],
  ])('have %s for password', (_, user, expected) => {
    expect(userOf(user)).toMatchObject(expected);
  });
  test('have a password that stands in a Secret', () => {
    const passwords = new Map([['login/password', 'from-secret']]);
    const user = { name: 'ops', passwordSecretRef: { name: 'login', key: 'password' } };
    expect(userOf(user, { passwords })).toEqual({
      name: 'ops',
      gecos: 'ops',
      plain_text_passwd: 'from-secret',
      lock_passwd: false,
    });
  });
  test('whose Secret is missing hold the machine up', () => {
    const found = told({ users: [{ name: 'ops', passwordSecretRef: { name: 'login', key: 'password' } }] });
    expect(found.writes).toEqual(['patchStatus VirtualMachine']);
    expect(found.conditions.Ready).toBe('False PasswordSecretMissing');
    expect(found.status?.message).toMatch(/found none; create it, and the machine continues within ten minutes\.$/);
    expect(found.status?.message).toContain('key password of Secret lab/login');
  });
  test('that would share a login are told apart by no one', () => {
    const found = told({ users: [{ name: 'demo user' }, { name: 'demo-user' }] });
    expect(found.conditions.Ready).toBe('False UserNamesCollide');
    expect(found.status?.message).toContain('"demo user" and "demo-user"');
  });
  test('may have any text for password, as YAML 1.1 reads it', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'grapheme' }),
          fc.constantFrom('no', '0123', '12:30:45', '~', '1_000', '#x', "a: 'b'"),
        ),
        (password) => {
          expect(userOf({ name: 'ops', plain_text_passwd: password })).toMatchObject({ plain_text_passwd: password });
        },
      ),
    );
  });

  // The end of the set c-printable of YAML 1.1, §5.1; PyYAML reads no file that has another character.
  test.each(['\u007f', '\u0080', '\u0085', '\u009f', '\ufffe', '\uffff'])('may have %j, which is escaped', (one) => {
    const password = `a${one}b`;
    const { text, user } = told({ users: [{ name: 'ops', plain_text_passwd: password }] });
    expect(text).not.toContain(one);
    expect(user.users[1]).toMatchObject({ plain_text_passwd: password });
  });
});

describe('a host key', () => {
  const sshHostKeySecretRef = { name: 'ssh-host-keys', key: 'demo' };
  test('is the one of the guest', () => {
    const { user } = told({ sshHostKeySecretRef }, { hostKey: '-----BEGIN\nAAAA\n' });
    expect(user).toMatchObject({ ssh_keys: { ed25519_private: '-----BEGIN\nAAAA\n' } });
    expect(told({}).user).not.toHaveProperty('ssh_keys');
  });
  test('that is missing holds the machine up', () => {
    const found = told({ sshHostKeySecretRef });
    expect(found.writes).toEqual(['patchStatus VirtualMachine']);
    expect(found.conditions.Ready).toBe('False HostKeyMissing');
    expect(found.status?.message).toContain(
      'key demo of Secret lab/ssh-host-keys with the label pelotech.ot/use=host-key',
    );
  });
});

test('a password is in the Secret, and nowhere else', () => {
  const passwords = new Map([['login/password', 'hunter3']]);
  const { actions, text } = told(
    {
      users: [
        { name: 'demo', plain_text_passwd: 'hunter2' },
        { name: 'ops', passwordSecretRef: { name: 'login', key: 'password' } },
      ],
    },
    { passwords },
  );
  expect(text).toContain('hunter2');
  // What an action is about is only named by it; of an object that is made every field goes out.
  const sent = actions
    .filter((action) => !('resource' in action && action.resource === Secret))
    .map((action) =>
      'of' in action ? { ...action, of: undefined } : 'about' in action ? { ...action, about: undefined } : action,
    );
  expect(JSON.stringify(sent)).not.toMatch(/hunter|aHVudGVy/);
});

describe('the host name', () => {
  test.each([
    [undefined, 'demo'],
    ['demo-vm', 'demo-vm'],
    ['Demo VM_1', 'demo-vm-1'],
    ['x'.repeat(80), 'x'.repeat(63)],
    ['---', 'demo'],
  ])('of %s is %s', (name, expected) => {
    const { user, machineMade } = told(name === undefined ? {} : { name });
    expect(user.hostname).toBe(expected);
    expect(machineMade).toMatchObject({ spec: { template: { spec: { hostname: expected } } } });
  });
});

describe('interfaces', () => {
  const interfaces = [
    { network: 'control-net', ipAddress: '10.10.0.161/24', gateway: '10.10.0.1' },
    { network: 'shared/bridge-inet.v2' },
  ];
  test('are told to the guest by their MAC addresses', () => {
    const { network, machineMade } = told({ interfaces });
    const { spec } = machineMade as unknown as {
      spec: { template: { spec: { domain: { devices: { interfaces: { macAddress: string }[] } } } } };
    };
    const [first, second] = spec.template.spec.domain.devices.interfaces.map(({ macAddress }) => macAddress);
    expect(network).toEqual({
      version: 2,
      ethernets: {
        'control-net': {
          match: { macaddress: first },
          'set-name': 'control-net',
          dhcp4: false,
          addresses: ['10.10.0.161/24'],
          routes: [{ to: '0.0.0.0/0', via: '10.10.0.1' }],
        },
        'bridge-inet-v2': { match: { macaddress: second }, 'set-name': 'bridge-inet-v2', dhcp4: true },
      },
    });
  });
  test('of equal names in two namespaces have two MAC addresses on the network that they share', () => {
    const macOf = (namespace: string) => {
      const [nic] = nicsOf(aVirtualMachine({ namespace, spec: { interfaces: [{ network: 'shared/edge' }] } }));
      return nic?.mac;
    };
    expect(macOf('ws-lab-1')).not.toBe(macOf('ws-lab-2'));
  });
  test('have the routes and name servers that they say, beside the gateway', () => {
    const routes = [{ to: '172.26.0.0/15', via: '10.10.0.2', metric: 200 }];
    const { network } = told({
      interfaces: [{ ...interfaces[0], network: 'net', routes, nameservers: ['4.29.163.7'] }],
    });
    expect(network).toMatchObject({
      ethernets: {
        net: {
          routes: [{ to: '0.0.0.0/0', via: '10.10.0.1' }, routes[0]],
          nameservers: { addresses: ['4.29.163.7'] },
        },
      },
    });
  });
  test('are bridges of KubeVirt, with what kube-ovn has to know, and no network of Pods', () => {
    expect(told({ interfaces }).machineMade).toMatchObject({
      spec: {
        template: {
          metadata: {
            annotations: {
              'control-net.lab.ovn.kubernetes.io/ip_address': '10.10.0.161',
              'control-net.lab.ovn.kubernetes.io/mac_address': expect.stringMatching(/^02:/),
              'bridge-inet.v2.shared.ovn.kubernetes.io/mac_address': expect.stringMatching(/^02:/),
            },
          },
          spec: {
            domain: {
              devices: {
                autoattachPodInterface: false,
                interfaces: [
                  { name: 'control-net', bridge: {} },
                  { name: 'bridge-inet-v2', bridge: {} },
                ],
              },
            },
            networks: [
              { name: 'control-net', multus: { networkName: 'lab/control-net' } },
              { name: 'bridge-inet-v2', multus: { networkName: 'shared/bridge-inet.v2' } },
            ],
          },
        },
      },
    });
  });
  test('of a cluster without kube-ovn have no annotations of it', () => {
    const { machineMade } = told({ interfaces }, { policy: { networkProvider: 'bridge' } });
    expect(JSON.stringify(machineMade)).not.toContain('ovn.kubernetes.io');
  });
  test('of a workspace are whose it says, whatever the policy says by now', () => {
    const annotations = { 'pelotech.ot/network-provider': 'kube-ovn' };
    const { machineMade } = told({ interfaces }, { policy: { networkProvider: 'bridge' } }, { annotations });
    expect(JSON.stringify(machineMade)).toContain('ovn.kubernetes.io');
  });
  test('there are none: the machine is on the network of Pods', () => {
    const { network, machineMade } = told({});
    expect(network).toBeNull();
    expect(machineMade).toMatchObject({
      spec: {
        template: {
          spec: {
            domain: { devices: { interfaces: [{ name: 'default', masquerade: {} }] } },
            networks: [{ name: 'default', pod: {} }],
          },
        },
      },
    });
  });
  test('with long names of one beginning are told apart', () => {
    const { network } = told({
      interfaces: [{ network: 'a-very-long-network-1' }, { network: 'a-very-long-network-2' }],
    });
    const names = Object.keys((network as { ethernets: object }).ethernets);
    expect(new Set(names).size).toBe(2);
    for (const name of names) expect(name.length).toBeLessThanOrEqual(15);
  });
});

describe('an address', () => {
  test.each([
    ['of the network itself', { ipAddress: '10.10.0.0/24' }, 'AddressNotUsable'],
    ['that is broadcast', { ipAddress: '10.10.0.255/24' }, 'AddressNotUsable'],
    ['with a gateway elsewhere', { ipAddress: '10.10.0.5/24', gateway: '10.10.1.1' }, 'AddressNotUsable'],
    ['that is its own gateway', { ipAddress: '10.10.0.5/24', gateway: '10.10.0.5' }, 'AddressNotUsable'],
    ['that is not there, with a gateway', { gateway: '10.10.0.1' }, 'AddressNotUsable'],
  ])('%s makes nothing', (_, one, reason) => {
    const found = told({ interfaces: [{ network: 'control-net', ...one }] });
    expect(found.writes).toEqual(['patchStatus VirtualMachine']);
    expect(found).toMatchObject({ status: { phase: 'Failed' }, conditions: { Ready: `False ${reason}` } });
  });
  test('on a network that is named twice makes nothing', () => {
    const found = told({ interfaces: [{ network: 'edge' }, { network: 'lab/edge' }] });
    expect(found.conditions.Ready).toBe('False NetworkNamedTwice');
  });

  const interfaces = [{ network: 'control-net', ipAddress: '10.10.0.5/24' }];
  const another = (options: MachineOptions) => aVirtualMachine({ name: 'other', spec: { interfaces }, ...options });
  test.each([
    ['an older machine has it', another({}), 'False AddressInUse'],
    ['a younger one has it', another({ createdAfterSeconds: 20 }), undefined],
    [
      'a younger one was made with it',
      another({
        createdAfterSeconds: 20,
        status: { fixedAddresses: [{ network: 'control-net', ipAddress: '10.10.0.5' }] },
      }),
      'False AddressInUse',
    ],
    [
      'a younger one runs with it',
      another({ createdAfterSeconds: 20, status: { addresses: [{ network: 'control-net', ipAddress: '10.10.0.5' }] } }),
      'False AddressInUse',
    ],
    ['it has it itself', aVirtualMachine({ spec: { interfaces } }), undefined],
    [
      'an older one has it on another network',
      another({ spec: { interfaces: [{ network: 'edge', ipAddress: '10.10.0.5/24' }] } }),
      undefined,
    ],
    [
      'an older one has it under another spelling',
      another({ spec: { interfaces: [{ network: 'lab/control-net', ipAddress: '10.10.0.5/16' }] } }),
      'False AddressInUse',
    ],
  ])('where %s', (_, neighbour, expected) => {
    const found = told({ interfaces }, { neighbours: [neighbour] }, { createdAfterSeconds: 10 });
    const inUse = found.conditions.Ready === 'False AddressInUse' ? found.conditions.Ready : undefined;
    expect(inUse).toBe(expected);
    if (expected) expect(found.status?.message).toContain('machine lab/other');
  });
  test('a machine that is given the address of another one does not take it, however old it is', () => {
    const holder = another({
      createdAfterSeconds: 20,
      status: { addresses: [{ network: 'control-net', ipAddress: '10.10.0.5' }], observedGeneration: 1 },
    });
    const made = aMadeMachine({ spec: { interfaces: [{ network: 'control-net', ipAddress: '10.10.0.6/24' }] } });
    const first = reconcile({ ...changed(made, { interfaces }), neighbours: [holder] });
    expect(first.writes).toEqual(['patchStatus VirtualMachine']);
    expect(first.conditions.RestartRequired).toBe('True AddressInUse');
    const kept = [{ network: 'control-net', ipAddress: '10.10.0.6' }];
    expect({ ...made.machine.status, ...first.status }.fixedAddresses).toEqual(kept);
    const { machine } = changed(made, { interfaces });
    const said = { ...machine, status: { ...machine.status, ...first.status } };
    expect(reconcile({ ...made, machine: said, neighbours: [holder] }).writes).toEqual([]);
  });
});

describe('what is given to the guest', () => {
  test.each([
    ['2', 2, undefined],
    ['500m', 1, '500m'],
    ['0.5', 1, '0.5'],
    ['1500m', 2, '1500m'],
    ['2000m', 2, undefined],
  ])('cpu %s is %d cores, and %s of their time', (cpu, cores, share) => {
    const { machineMade } = told({ resources: { cpu, memory: '2Gi' } });
    const { spec } = machineMade as unknown as { spec: { template: { spec: { domain: Record<string, unknown> } } } };
    expect(spec.template.spec.domain).toMatchObject({ cpu: { cores }, memory: { guest: '2Gi' } });
    expect(spec.template.spec.domain.resources).toEqual(
      share === undefined ? undefined : { requests: { cpu: share }, limits: { cpu: share } },
    );
  });
  test('and its labels are those that are legal', () => {
    const { machineMade } = told({ name: 'demo vm', version: '2.1.0', baseVm: 'ubuntu_2004_lts_en-us_x64' });
    expect(machineMade).toMatchObject({
      metadata: {
        labels: {
          'app.kubernetes.io/managed-by': 'ot-functions',
          'app.kubernetes.io/version': '2.1.0',
          'pelotech.ot/base-vm': 'ubuntu_2004_lts_en-us_x64',
          'pelotech.ot/virtual-machine-uid': 'uid-demo',
        },
      },
      spec: { template: { metadata: { labels: { 'pelotech.ot/virtual-machine-uid': 'uid-demo' } } } },
    });
    expect(machineMade?.metadata).not.toHaveProperty(['labels', 'app.kubernetes.io/name']);
  });
});

test.each(['no', 'on', 'yes', 'y', 'null', '0123', '0x1f', '1e3', '2026-01-01', 'control-net'])(
  'a network may be called %s, as YAML 1.1 reads it',
  (network) => {
    const { network: written } = told({ interfaces: [{ network, ipAddress: '10.0.0.5/24' }] });
    expect(written).toMatchObject({ ethernets: { [network]: { 'set-name': network } } });
  },
);
