import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { KubeVirtMachine } from '../../shared/kinds/kubevirt/virtual-machine.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { ApiError } from '../../shared/runtime/errors.ts';
import { eventsAbout, untilEventAbout } from './events.ts';
import { putImage, syncImage } from './images.ts';
import { createMachine, createNetwork, deleteWithImage, templateOf, untilMachine, untilResolved } from './machines.ts';
import { untilCount } from './references.ts';
import { apply } from './run-kubectl.ts';
import { calm } from './subscriptions.ts';
import { createImage, type Story, setPolicy, until, untilGone, untilPhase, type World, withKubectl } from './world.ts';

const template = {
  storageClass: 'gp3',
  snapshotClass: 'ebs-snapshot',
  secretRef: 's3-reader',
  url: 'https://s3.us-gov-west-1.amazonaws.com/images/lab/vm.qcow2',
  diskSize: '24Gi',
};
const resources = { cpu: '2', memory: '2Gi' };

/** A machine that is good for any cluster's schema, with these changes to its spec; undefined leaves a field out. */
const manifest = (world: World, changes: Readonly<Record<string, unknown>>, name = 'bad') => ({
  apiVersion: VirtualMachine.apiVersion,
  kind: VirtualMachine.kind,
  metadata: { name, namespace: world.namespace },
  spec: { resources, vmDiskImageRef: { name: 'ubuntu', namespace: 'vmdi-farm' }, ...changes },
});

const on = <T>(...interfaces: T[]) => ({ interfaces });
const net = (network: string, ipAddress?: string, gateway?: string) => ({
  network,
  ...(ipAddress ? { ipAddress } : {}),
  ...(gateway ? { gateway } : {}),
});
const withUser = (user: object, ...more: object[]) => ({ users: [{ name: 'demo', ...user }, ...more] });

/** What the schema refuses: what is changed in a good spec, and what the answer says. */
const refused: readonly (readonly [string, Readonly<Record<string, unknown>>, string])[] = [
  ['no image', { vmDiskImageRef: undefined }, 'spec.vmDiskImageRef: Required value'],
  ['an image without a namespace', { vmDiskImageRef: { name: 'u' } }, 'spec.vmDiskImageRef.namespace: Required value'],
  ['an image without a name', { vmDiskImageRef: { namespace: 'u' } }, 'spec.vmDiskImageRef.name: Required value'],
  ['an image with no name of an object', { vmDiskImageRef: { name: 'a,b', namespace: 'u' } }, 'vmDiskImageRef.name'],
  ['a namespace that can be none', { vmDiskImageRef: { name: 'a', namespace: 'A_B' } }, 'vmDiskImageRef.namespace'],
  [
    'CreateIfNotExist without a template',
    { mode: 'CreateIfNotExist' },
    'vmDiskImageTemplate: expected with mode CreateIfNotExist',
  ],
  ['an unknown mode', { mode: 'Maybe' }, 'supported values: "CreateIfNotExist", "FailIfNotExist"'],
  [
    'a template that no image could be made of',
    { vmDiskImageTemplate: { ...template, url: 's3://images/vm.qcow2' } },
    'expected a path-style https URL, found s3://; write https://s3.',
  ],
  [
    'a template without a url',
    { vmDiskImageTemplate: { ...template, url: undefined } },
    'spec.vmDiskImageTemplate.url: Required value',
  ],
  ['no resources', { resources: undefined }, 'resources: expected cpu and memory, or an instancetype, which has both'],
  ['no memory', { resources: { cpu: '1' } }, 'resources: expected cpu and memory, or an instancetype, which has both'],
  [
    'cores beside an instancetype',
    { instancetype: 'u1.small', resources: { cpu: '1' } },
    'resources: expected neither cpu nor memory beside an instancetype, which has both',
  ],
  ['an instancetype that can be none', { instancetype: 'U1 small', resources: undefined }, 'spec.instancetype'],
  ['a bus that KubeVirt does not have', { diskBus: 'ide' }, 'spec.diskBus'],
  ['firmware without a bootloader', { firmware: {} }, 'spec.firmware.bootloader: Required value'],
  [
    'Secure Boot with BIOS',
    { firmware: { bootloader: 'bios', secureBoot: true } },
    'firmware: expected bootloader efi with secureBoot',
  ],
  ['a number for cpu', { resources: { ...resources, cpu: 2 } }, 'spec.resources.cpu'],
  ['no cores', { resources: { ...resources, cpu: '0.0' } }, 'cpu: expected more than no core, such as "2"'],
  ['invalid cores', { resources: { ...resources, cpu: 'two' } }, 'cpu: expected more than no core, such as "2"'],
  ['memory in bytes', { resources: { ...resources, memory: '2' } }, 'memory: expected at least 1Mi, with its unit'],
  ['invalid memory', { resources: { ...resources, memory: '2 GB' } }, 'memory: expected at least 1Mi, with its unit'],
  [
    'a disk in bytes',
    { resources: { ...resources, diskSize: '18' } },
    'diskSize: expected at least 1Mi, with its unit',
  ],
  [
    'an address without a network',
    on(net('lab', '10.10.0.161')),
    'ipAddress: expected an address with the length of its network, such as 10.10.0.161/24',
  ],
  ['an invalid address', on(net('lab', '10.10.0.999/24')), 'ipAddress: expected an address with the length'],
  ['an invalid length', on(net('lab', '10.10.0.1/33')), 'ipAddress: expected an address with the length'],
  ['the address of no machine', on(net('lab', '0.0.0.0/8')), "ipAddress: expected a machine's address in a network"],
  ['the address of every machine', on(net('lab', '127.0.0.1/8')), "ipAddress: expected a machine's address"],
  ['an address in no network', on(net('lab', '10.10.0.1/0')), "ipAddress: expected a machine's address in a network"],
  [
    'a gateway in another network',
    on(net('lab', '10.10.0.161/24', '10.11.0.1')),
    'gateway: expected an address in the network of the ipAddress beside it',
  ],
  [
    'a gateway without an address',
    on(net('lab', undefined, '10.11.0.1')),
    'gateway: expected an address in the network',
  ],
  ['a gateway with a length', on(net('lab', '10.10.0.161/24', '10.10.0.1/24')), 'gateway: expected an address such as'],
  [
    'two gateways',
    on(net('a', '10.10.0.161/24', '10.10.0.1'), net('b', '10.11.0.161/24', '10.11.0.1')),
    'interfaces: expected a gateway on one interface at most',
  ],
  ['the same network twice', on(net('lab'), net('lab')), 'interfaces: expected each network once'],
  ['the same address twice', on(net('a', '10.0.0.1/24'), net('b', '10.0.0.1/16')), 'expected each ipAddress once'],
  ['a network that can be none', on(net('Lab Net')), 'spec.interfaces[0].network'],
  ['17 interfaces', on(...Array.from({ length: 17 }, (_, i) => net(`n${i}`))), 'must have at most 16 items'],
  [
    'two passwords of one user',
    withUser({ plain_text_passwd: 'a', hashed_passwd: '$6$b' }),
    'users: expected at most one of plain_text_passwd, hashed_passwd and passwordSecretRef',
  ],
  [
    'a Secret of another namespace',
    withUser({ passwordSecretRef: { name: 'lab/login' } }),
    'spec.users[0].passwordSecretRef.name',
  ],
  ['the same user twice', withUser({}, { name: 'demo' }), 'users: expected each name once'],
  ...(
    [
      ['that ask nothing', {}],
      ['that ask the agent or not', { guestAgent: false }],
      ['that ask agent and port', { guestAgent: true, tcp: 22 }],
    ] as const
  ).map(
    ([what, readiness]) =>
      [`checks ${what}`, { readiness }, 'readiness: expected either guestAgent: true or the port of tcp'] as const,
  ),
  ['a port that is none', { readiness: { tcp: 70_000 } }, 'spec.readiness.tcp'],
  ['a timeout without a unit', { readiness: { tcp: 22, timeout: '90' } }, 'spec.readiness.timeout'],
  [
    'a port of a machine with interfaces',
    { ...on(net('lab')), readiness: { tcp: 22 } },
    'readiness: expected guestAgent on a machine with interfaces',
  ],
  ['a user without a name', { users: [{ sudo: 'ALL=(ALL) ALL' }] }, 'spec.users[0].name: Required value'],
];

/** What one might think is refused, and is taken. */
const taken: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
  ['an image and nothing else', {}],
  ['a template without a mode', { vmDiskImageTemplate: template }],
  ['FailIfNotExist with and without a template', { mode: 'FailIfNotExist' }],
  ['FailIfNotExist with a template', { mode: 'FailIfNotExist', vmDiskImageTemplate: template }],
  ['an image in the namespace of the machine', { vmDiskImageRef: { name: 'a.b', namespace: 'lab' } }],
  ['a user name that Linux refuses', withUser({ name: 'demo user', plain_text_passwd: 'x' })],
  ['half a core', { resources: { ...resources, cpu: '500m' } }],
  ['a core and a half', { resources: { ...resources, cpu: '1.5', memory: '512M', diskSize: '18Gi' } }],
  ['IPv6, and a network of another namespace', on(net('nets/lab', '2001:db8::1/64', '2001:db8::ff'), net('pods'))],
  ['two machines of one network', on(net('a', '10.0.0.1/24', '10.0.0.254'), net('b', '10.0.0.2/24'))],
  ['an agent that is to answer on a machine with interfaces', { ...on(net('lab')), readiness: { guestAgent: true } }],
  ['a port that is to answer', { interfaces: [], readiness: { tcp: 22, timeout: '1h30m', onFailure: 'Restart' } }],
  ['an instancetype and the size of a disk', { instancetype: 'u1.small', resources: { diskSize: '18Gi' } }],
  [
    'what Windows may need',
    {
      ...{ preference: 'windows.2k22', tpm: true, diskBus: 'sata' },
      firmware: { bootloader: 'efi', secureBoot: true },
    },
  ],
  ['a password in a Secret', withUser({ passwordSecretRef: { name: 'demo' } })],
];

const refusalOf = (write: Promise<unknown>) =>
  write.then(
    () => ({ status: 201, message: '' }),
    (error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      return { status: error.status, message: error.serverMessage };
    },
  );

/**
 * A machine whose image is not made for a reason that goes away: it says which, and has its image once `mend` is done. Where
 * `phase` is not Failed the machine only waits, without a warning.
 */
const heals = (
  name: string,
  reason: string,
  {
    says,
    spec,
    mend,
    phase = 'Failed',
    ...more
  }: Partial<Story> & {
    says: string;
    phase?: 'Failed' | 'Provisioning';
    spec(world: World): Parameters<typeof createMachine>[3];
    mend(world: World): Promise<unknown>;
  },
): Story => ({
  name: `${name}: the machine says ${reason} and what was expected, ${phase === 'Failed' ? 'is Failed' : 'waits'}, makes nothing, and heals when that is mended`,
  ...more,
  run: async (world) => {
    const { kube, namespace } = world;
    await createMachine(world, 'vm', 'lab', spec(world));
    const ref = (await kube.get(VirtualMachine, { namespace, name: 'vm' }))?.spec.vmDiskImageRef ?? { name: '' };
    try {
      const { status, message } = await untilResolved(world, 'vm', reason);
      expect(status).toBe('False');
      expect(message).toContain(says);
      await untilMachine(world, 'vm', phase);
      const warning = { type: 'Warning', message: expect.stringContaining(says) };
      if (phase === 'Failed') expect(await untilEventAbout(world, 'vm', reason)).toMatchObject(warning);
      else expect(await eventsAbout(world, 'vm', reason)).toEqual([]);
      expect(await kube.get(VMDiskImage, ref)).toBeUndefined();
      await mend(world);
      expect(await untilResolved(world, 'vm', 'ImageFound')).toMatchObject({ status: 'True' });
      await untilMachine(world, 'vm', 'Provisioning');
      expect(await kube.get(VMDiskImage, ref)).toBeDefined();
    } finally {
      await deleteWithImage(world, 'vm', ref);
    }
  },
});

const farm = { name: 'lab-of-a-story', namespace: 'vmdi-farm' };

/** Refuses what ensure-vmdi makes there as an admission webhook would, until that is mended. */
function refusesUntilMended(path: string) {
  let refuses = true;
  const intercept: NonNullable<NonNullable<Story['local']>['intercept']> = ({ method, path: asked, user }) =>
    refuses && method === 'POST' && asked.startsWith(path) && user.endsWith(':ensure-vmdi')
      ? { status: 403 }
      : undefined;
  return {
    local: { intercept },
    mend: async () => {
      refuses = false;
    },
  };
}

/** Specs that the schema accepts and no machine can have: what is bad, what is reported, and what repairs it. */
const unfit = ({ namespace }: World) => [
  {
    reason: 'UserNamesCollide',
    spec: { users: [{ name: 'demo user' }, { name: 'demo-user' }] },
    says: 'found "demo user" and "demo-user", which both become demo-user; rename one of them.',
    mended: { users: [{ name: 'demo user' }, { name: 'ops' }] },
  },
  {
    reason: 'AddressNotUsable',
    spec: on(net('control-net', '10.10.0.0/24')),
    says: 'found 10.10.0.0/24: that is the address of the network itself, on network control-net; correct it or take it out.',
    mended: on(net('control-net', '10.10.0.1/24')),
  },
  {
    reason: 'AddressNotUsable',
    spec: on(net('control-net', '10.10.0.255/24')),
    says: 'found 10.10.0.255/24: that is the broadcast address of the network, on network control-net; correct it or take it out.',
    mended: on(net('control-net', '10.10.0.254/24')),
  },
  {
    reason: 'NetworkNamedTwice',
    spec: on(net('control-net'), net(`${namespace}/control-net`)),
    says: `found ${namespace}/control-net twice; take one of the two out.`,
    mended: on(net('control-net')),
  },
];

export const stories: readonly Story[] = [
  {
    name: 'what the schema of a machine can refuse is answered 422 with what was expected, and is not there afterwards',
    quick: true,
    smoke: true,
    run: async (world) => {
      for (const [what, changes, words] of refused) {
        const { status, message } = await refusalOf(world.kube.create(VirtualMachine, manifest(world, changes)));
        expect({ what, status, message }).toEqual({ what, status: 422, message: expect.stringContaining(words) });
        // A rule that cannot be evaluated answers in words of CEL before its own.
        expect(message).not.toContain('evaluating rule');
      }
      const long = await refusalOf(world.kube.create(VirtualMachine, manifest(world, {}, 'x'.repeat(64))));
      expect(long).toMatchObject({
        status: 422,
        message: expect.stringContaining('metadata.name: expected at most 63 characters'),
      });
      expect(await world.kube.list(VirtualMachine, { namespace: world.namespace })).toEqual([]);
    },
  },
  {
    name: 'what a machine may say is taken',
    policy: { concurrency: '0', imageNamespaces: 'nowhere' },
    run: async (world) => {
      for (const [index, [what, changes]] of taken.entries()) {
        const made = await refusalOf(world.kube.create(VirtualMachine, manifest(world, changes, `good-${index}`)));
        expect({ what, ...made }).toEqual({ what, status: 201, message: '' });
      }
      const longest = 'x'.repeat(63);
      const made = await world.kube.create(VirtualMachine, manifest(world, { vmDiskImageTemplate: template }, longest));
      expect(made.spec.vmDiskImageTemplate?.sourceType).toBe('s3');
    },
  },
  {
    name: 'a machine keeps the image it was made for; its template and its mode may change',
    policy: { concurrency: '0' },
    run: async (world) => {
      const { kube, namespace } = world;
      const ref = { namespace, name: 'vm' };
      await createMachine(world, 'vm', 'lab', { vmDiskImageTemplate: templateOf(world, 'lab') });
      for (const changed of [{ name: 'other' }, { namespace: 'other' }]) {
        const edit = kube.patch(VirtualMachine, ref, { spec: { vmDiskImageRef: changed } });
        expect(await refusalOf(edit)).toMatchObject({
          status: 422,
          message: expect.stringContaining('vmDiskImageRef: immutable; make another machine for another image'),
        });
      }
      const spec = { mode: 'FailIfNotExist', vmDiskImageTemplate: { diskSize: '65Mi' } };
      expect(await refusalOf(kube.patch(VirtualMachine, ref, { spec }))).toMatchObject({ status: 201 });
      const without = kube.patch(VirtualMachine, ref, {
        spec: { mode: 'CreateIfNotExist', vmDiskImageTemplate: null },
      });
      expect(await refusalOf(without)).toMatchObject({
        status: 422,
        message: expect.stringContaining('expected with mode'),
      });
    },
  },
  heals('an image in a namespace that the policy does not allow', 'ImageNamespaceNotAllowed', {
    policy: { concurrency: '0', imageNamespaces: 'golden' },
    spec: (world) => ({ vmDiskImageRef: farm, vmDiskImageTemplate: templateOf(world, 'lab') }),
    says: "or in one of the policy's imageNamespaces (golden), found vmdi-farm",
    mend: (world) => setPolicy(world, { imageNamespaces: 'golden\nvmdi-farm' }),
  }),
  heals('a source that the policy does not allow', 'SourceNotAllowed', {
    policy: { concurrency: '0', allowedSources: 'https://images.example/**' },
    spec: (world) => ({ vmDiskImageTemplate: templateOf(world, 'lab') }),
    says: 'expected a line for',
    mend: (world) =>
      setPolicy(world, { allowedSources: `https://images.example/**\n${world.store.url}/images/* s3-reader` }),
  }),
  heals("a Secret of the image's namespace for a url of one's own", 'SourceNotAllowed', {
    policy: { concurrency: '0', allowedSources: 'https://images.example/**' },
    spec: () => ({
      vmDiskImageRef: farm,
      vmDiskImageTemplate: { ...template, sourceType: 's3', url: 'https://images.example/images/lab.qcow2' },
    }),
    says: 'found none that names Secret s3-reader',
    mend: (world) => setPolicy(world, { allowedSources: 'https://images.example/** s3-reader' }),
  }),
  heals('a policy whose imageNamespaces are invalid', 'InvalidPolicy', {
    policy: { concurrency: '0', imageNamespaces: ',' },
    phase: 'Provisioning',
    spec: (world) => ({ vmDiskImageRef: farm, vmDiskImageTemplate: templateOf(world, 'lab') }),
    says: 'imageNamespaces: expected names of namespaces',
    mend: (world) => setPolicy(world, { imageNamespaces: 'vmdi-farm' }),
  }),
  heals('neither image nor template', 'ImageMissing', {
    policy: { concurrency: '0' },
    phase: 'Provisioning',
    spec: () => ({}),
    says: 'Create it, or add a vmDiskImageTemplate to the machine',
    mend: (world) =>
      world.kube.patch(
        VirtualMachine,
        { namespace: world.namespace, name: 'vm' },
        { spec: { vmDiskImageTemplate: templateOf(world, 'lab') } },
      ),
  }),
  heals('a namespace that is not there', 'ImageNamespaceMissing', {
    provesPermissions: {},
    localOnly: 'each new namespace makes Knative restart the adapters of all sources, which then miss events',
    policy: { concurrency: '0', imageNamespaces: 'golden' },
    spec: (world) => ({
      vmDiskImageRef: { name: 'lab', namespace: 'golden' },
      vmDiskImageTemplate: templateOf(world, 'lab'),
    }),
    says: 'Expected namespace golden for VMDiskImage lab, found none; make the namespace',
    mend: async (world) => {
      // Only the namespace is to wake it: nothing that was done to the machine before.
      await calm(world);
      await world.kube.create(Namespace, { metadata: { name: 'golden' } });
    },
  }),
  {
    name: 'a missing namespace is reported, and an image in an existing one is created meanwhile',
    policy: { concurrency: '0', imageNamespaces: 'golden' },
    run: async (world) => {
      const vmDiskImageTemplate = templateOf(world, 'lab');
      const vmDiskImageRef = { name: 'lab', namespace: 'golden' };
      await createMachine(world, 'homeless', 'lab', { vmDiskImageRef, vmDiskImageTemplate });
      await createMachine(world, 'vm', 'lab', { vmDiskImageTemplate });
      expect((await untilResolved(world, 'homeless', 'ImageNamespaceMissing')).message).toContain('found none');
      await untilResolved(world, 'vm', 'ImageFound');
    },
  },
  heals('an image that the API server refuses', 'ImageRefused', {
    localOnly: 'a real API server refuses nothing on demand',
    ...refusesUntilMended('/apis/pelotech.ot/v1alpha1/namespaces/lab/vmdiskimages'),
    policy: { concurrency: '0' },
    spec: (world) => ({ vmDiskImageTemplate: templateOf(world, 'lab') }),
    says: 'found a refusal: Unknown: refused on purpose with 403',
  }),
  {
    name: 'an existing image in a namespace that the policy does not allow: its machine is Failed and clones nothing, and neither counts, until the policy lets it',
    policy: { imageNamespaces: 'golden' },
    run: async (world) => {
      const { kube, namespace, history, store } = world;
      const apart = { ...world, namespace: farm.namespace };
      await putImage(world, 'lab', { bucket: 'public' });
      await createImage(apart, farm.name, { sourceType: 'http', url: `${store.url}/public/lab.qcow2` });
      try {
        await untilPhase(apart, farm.name, 'Succeeded');
        await createMachine(world, 'vm', farm.name, { vmDiskImageRef: farm });
        const failed = await untilMachine(world, 'vm', 'Failed');
        expect(conditionOf(failed.status?.conditions, 'Ready')).toMatchObject({
          status: 'False',
          reason: 'ImageNamespaceNotAllowed',
          message: expect.stringContaining(
            'found vmdi-farm; name an image there, or add vmdi-farm to imageNamespaces.',
          ),
        });
        expect(await untilEventAbout(world, 'vm', 'ImageNamespaceNotAllowed')).toMatchObject({ type: 'Warning' });
        await untilCount(apart, farm.name, 0);
        expect(await kube.list(KubeVirtMachine, { namespace })).toEqual([]);
        const { metadata: allowed } = await setPolicy(world, { imageNamespaces: 'golden\nvmdi-farm' });
        await untilMachine(world, 'vm', 'Ready');
        await history.caughtUp(await untilCount(apart, farm.name, 1));
        const before = history
          .changes()
          .filter(({ object }) => Number(object.metadata.resourceVersion) < Number(allowed.resourceVersion));
        expect(before.filter(({ object }) => object.metadata.name === 'vm-root')).toEqual([]);
        expect(before.filter(({ object }) => (object as VMDiskImage).status?.references?.count)).toEqual([]);
      } finally {
        await deleteWithImage(world, 'vm', farm);
      }
    },
  },
  {
    name: 'what the schema takes and no machine can have: Failed with what was expected, found and to be done; each is made once that is corrected',
    run: async (world) => {
      const { kube, namespace } = world;
      await createNetwork(world, 'control-net');
      await syncImage(world, 'base');
      const all = unfit(world).map((one, index) => ({ ...one, name: `vm-${index}` }));
      for (const { name, spec } of all) await createMachine(world, name, 'base', spec);
      for (const { name, reason, says } of all) {
        const { status } = await untilMachine(world, name, 'Failed');
        const message = expect.stringMatching(/^Expected /);
        expect(conditionOf(status?.conditions, 'Ready')).toMatchObject({ status: 'False', reason, message });
        expect(status?.message).toContain(says);
        expect(await untilEventAbout(world, name, reason)).toMatchObject({ type: 'Warning', message: status?.message });
      }
      expect(await kube.list(KubeVirtMachine, { namespace })).toEqual([]);
      for (const { name, mended } of all) await kube.patch(VirtualMachine, { namespace, name }, { spec: mended });
      for (const { name } of all) await untilMachine(world, name, 'Ready');
    },
  },
  {
    name: 'an image that Failed stays the image of its machines: none is made beside it, and mended it serves them',
    policy: { retryLimit: '0' },
    run: async (world) => {
      await createMachine(world, 'vm', 'broken', { vmDiskImageTemplate: templateOf(world, 'broken') });
      const failed = await untilPhase(world, 'broken', 'Failed');
      await createMachine(world, 'next', 'broken', { vmDiskImageTemplate: templateOf(world, 'broken') });
      expect(await untilResolved(world, 'next', 'ImageFound')).toMatchObject({ status: 'True' });
      await putImage(world, 'broken');
      const ref = { namespace: world.namespace, name: 'broken' };
      await world.kube.patch(VMDiskImage, ref, { metadata: { annotations: { 'pelotech.ot/sync-requested': 'now' } } });
      expect((await untilPhase(world, 'broken', 'Succeeded')).metadata.uid).toBe(failed.metadata.uid);
    },
  },
  {
    name: 'a garbage status of a machine is refused by the schema; a wiped one is written again',
    policy: { concurrency: '0' },
    run: async (world) => {
      await createImage(world, 'lab');
      await createMachine(world, 'vm', 'lab');
      const before = await untilResolved(world, 'vm', 'ImageFound');
      const ref = { namespace: world.namespace, name: 'vm' };
      const patchStatus = (status: unknown) =>
        world.kube.patch(VirtualMachine, ref, { status }, { subresource: 'status' });
      for (const garbage of [{ phase: 'Dancing' }, { conditions: [{ type: 'Ready' }] }, 'none'])
        expect(await refusalOf(patchStatus(garbage))).toMatchObject({ status: 422 });
      await patchStatus(null);
      const isThere = (found: VirtualMachine | undefined) =>
        found?.status?.conditions?.some(
          ({ type, message }) => type === 'ImageResolved' && message === before.message,
        ) === true;
      await until(world, VirtualMachine, ref, isThere);
    },
  },
  ...withKubectl({
    "the users' own manifest of a machine applies as it stands": {
      smoke: true,
      policy: {
        concurrency: '0',
        allowedSources: 'https://s3.us-gov-west-1.amazonaws.com/vm-images/** foo-bar',
      },
      run: async ({ kube, kubectl }) => {
        const text = await readFile(new URL('../../crds/examples/virtual-machine.yaml', import.meta.url), 'utf8');
        const ref = { namespace: 'lab', name: 'demo-workspace-1' };
        const image = { namespace: 'vmdi-farm', name: 'demo-vmdi' };
        expect(await apply(kubectl, text.replace('namespace: default', 'namespace: lab'))).toMatchObject({
          code: 0,
          out: expect.stringContaining('virtualmachine.pelotech.ot/demo-workspace-1 created'),
        });
        await untilResolved({ kube, namespace: 'lab' }, 'demo-workspace-1', 'ImageFound');
        expect(await kube.get(VMDiskImage, image)).toMatchObject({ spec: { name: 'harrison-vm', diskSize: '24Gi' } });
        const wide = await kubectl('get', 'otvm', '-n', 'lab', '-o', 'wide');
        expect(wide.out).toMatch(
          /^NAME\s+PHASE\s+IMAGE\s+IP\s+NODE\s+TERMINATING\s+AGE\s+REASON\s+MESSAGE\ndemo-workspace-1\s.*demo-vmdi/,
        );
        expect((await kubectl('get', 'ot', '-n', 'lab', '-o', 'name')).out).toContain('demo-workspace-1');
        const selector = 'spec.vmDiskImageRef.name=demo-vmdi,spec.vmDiskImageRef.namespace=vmdi-farm';
        const selected = await kubectl('get', 'otvm', '-A', '--field-selector', selector, '-o', 'name');
        expect(selected.out.trim()).toBe('virtualmachine.pelotech.ot/demo-workspace-1');
        await kube.delete(VirtualMachine, ref);
        await kube.delete(VMDiskImage, image);
        await untilGone({ kube }, VMDiskImage, image);
      },
    },
    'kubectl apply shows what was expected of each thing the schema of a machine refuses': async (world) => {
      for (const [what, changes, words] of refused) {
        const { code, err } = await apply(world.kubectl, manifest(world, changes));
        expect({ what, code, err }).toEqual({ what, code: 1, err: expect.stringContaining(words) });
      }
      const strict = await apply(world.kubectl, manifest(world, { colour: 'blue' }));
      expect(strict).toMatchObject({ code: 1, err: expect.stringContaining('unknown field "spec.colour"') });
      expect((await world.kubectl('get', 'otvm', '-A', '-o', 'name')).out).toBe('');
    },
  }),
];
