import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { PersistentVolumeClaim } from '../../../shared/kinds/core/persistent-volume-claim.ts';
import { Secret } from '../../../shared/kinds/core/secret.ts';
import { ObjectMeta } from '../../../shared/kinds/resource.ts';
import { aVMDiskImage, start } from '../../support/builders/images.ts';
import { aVirtualMachine } from '../../support/builders/machines.ts';
import { aWorkspace } from '../../support/builders/workspaces.ts';
import { aHistory, aPolicy, by, download } from './a-history.ts';
import { check } from './check.ts';
import type { Asked, Delivered } from './history.ts';
import { s19Tenancy } from './s19-tenancy.ts';

const url = 'https://s3.example/images/ubuntu.qcow2';
const labels = { 'app.kubernetes.io/created-by': 'ensure-vmdi' };
const image = aVMDiskImage({ labels, spec: { url } });
const faults = (policy: Record<string, string>, ...written: Parameters<typeof aHistory>[0]) =>
  check(aHistory([by('user', aPolicy(policy)), ...written]), [s19Tenancy]).map(({ message }) => message);

describe('an image of a template, and its download,', () => {
  const fetching: DataVolume = { ...download(image), spec: { source: { s3: { url, secretRef: 's3-reader' } } } };
  const asked = [by('ensure-vmdi', image, { since: 101 }), by('start-sync', fetching, { since: 102 })];

  test.each([
    [
      'by a line with its Secret',
      { allowedSources: 'https://other.example/**\nhttps://s3.example/images/** s3-reader' },
    ],
    ['by the template of the policy', { imageUrlTemplate: 'https://s3.example/{name}', imageSecretRef: 's3-reader' }],
  ])('are allowed %s', (_, policy) => {
    expect(faults(policy, ...asked)).toEqual([]);
  });

  test.each([
    ['no line', {}],
    ['a line of another source', { allowedSources: 'https://s3.example/private/** s3-reader' }],
    ['a line of another Secret', { allowedSources: 'https://s3.example/images/** another' }],
  ])('are reported with %s', (_, policy) => {
    expect(faults(policy, ...asked)).toEqual([
      `vmdi-farm/ubuntu is of ${url}, which the policy does not allow`,
      expect.stringContaining('which the policy does not allow'),
    ]);
  });

  test('outside image namespaces may have any Secret of their own', () => {
    const policy = { allowedSources: 'https://s3.example/images/**' };
    const theirs = aVMDiskImage({ labels, namespace: 'lab', spec: { url } });
    expect(faults(policy, by('ensure-vmdi', theirs, { since: 101 }))).toEqual([]);
  });
});

test('an image that no template asked for needs no line', () => {
  expect(faults({}, by('user', aVMDiskImage({ spec: { url } })))).toEqual([]);
});

test('a root disk is a clone of its own namespace, or of an image namespace', () => {
  const clone = (namespace: string) =>
    by(
      'provision-vm',
      DataVolume.parse({
        metadata: { name: 'web-root', namespace: 'lab', uid: `uid-${namespace}` },
        spec: { source: { snapshot: { namespace, name: 'ubuntu-r1' } } },
      }),
      { since: 101 },
    );
  expect(faults({ imageNamespaces: 'vmdi-farm' }, clone('vmdi-farm'), clone('lab'), clone('tenant'))).toEqual([
    'lab/web-root was cloned from namespace tenant, which is not in imageNamespaces',
  ]);
});

const reconcile = {
  since: 101,
  atMs: start,
  about: [],
  isTimed: false,
  mostInFlight: 1,
  mostWritesBegun: 1,
  asked: [],
};

describe('a Secret is read', () => {
  const read = (of: string, verb: Asked['verb'] = 'get'): Asked => ({ verb, kind: 'Secret', of, objects: 1 });
  const machine = aVirtualMachine({
    spec: { users: [{ name: 'admin', passwordSecretRef: { name: 'login', key: 'password' } }] },
  });
  const { namespace, name } = machine.metadata;
  const faultsOf = (who: string, ...asked: Asked[]) =>
    check(aHistory([by('user', image), by('user', machine)], { reconciles: [{ ...reconcile, by: who, asked }] }), [
      s19Tenancy,
    ]).map(({ message }) => message);

  test.each([
    ['provision-vm', `${namespace}/login`],
    ['provision-vm', `${namespace}/${name}-cloud-init`],
    ['start-sync', 'vmdi-farm/s3-reader'],
    ['preload', 'sync-operator/publication-keys'],
    ['compose-workspace', 'sync-operator/workspace-key'],
    ['compose-workspace', 'ws-lab/ansible-credentials'],
    ['keep-account', 'lab/openstack-credentials'],
    ['retire-project', 'sync-operator/openstack-credentials'],
  ])('by %s: %s', (who, key) => {
    expect(faultsOf(who, read(key))).toEqual([]);
  });

  test.each([
    ['provision-vm', 'vmdi-farm/login'],
    ['provision-vm', 'vmdi-farm/s3-reader'],
    ['start-sync', `${namespace}/login`],
    ['preload', 'sync-operator/workspace-key'],
    ['compose-workspace', 'lab/ansible-credentials'],
    ['compose-workspace', 'ws-lab/login'],
    ['provision-server', 'lab/login'],
    ['retire-project', 'lab/openstack-credentials'],
    ['count-refs', 'vmdi-farm/s3-reader'],
    ['dead-letters', 'sync-operator/publication-keys'],
  ])('by %s, not %s', (who, key) => {
    expect(faultsOf(who, read(key))).toEqual([expect.stringContaining(`${who} read Secret ${key}`)]);
  });

  test('and never listed, but for the accounts that keep-account keeps', () => {
    expect(faultsOf('keep-account', read('', 'list'))).toEqual([]);
    expect(faultsOf('provision-vm', read('lab', 'list'))).toEqual(['provision-vm listed Secrets of lab']);
  });
});

describe('a publication makes an image', () => {
  const key = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
  const another = `whsec_${Buffer.alloc(24, 2).toString('base64')}`;
  const keys = (...found: string[]) =>
    Secret.parse({
      metadata: { name: 'publication-keys', namespace: 'sync-operator', uid: 'uid-keys' },
      data: Object.fromEntries(found.map((one, index) => [`k${index}`, Buffer.from(`${one}\n`).toString('base64')])),
    });
  const data = { name: 'ubuntu', url };
  const seconds = start / 1000;
  const signedBy = (by: string, { at = seconds, content = JSON.stringify(data), id = '1' } = {}): Delivered => {
    const hmac = createHmac('sha256', Buffer.from(by.slice('whsec_'.length), 'base64'));
    const signature = `v1,unknown v1,${hmac.update(`${id}.${at}.${content}`).digest('base64')}`;
    return { id: '1', data, signed: { timestamp: String(at), signature, content } };
  };
  const allowed = { allowedSources: 'https://s3.example/images/** s3-reader' };
  const faultsOf = (messages: readonly Delivered[], { policy = {}, secret = keys(key), more = [] as never[] } = {}) => {
    const written = [by('user', aPolicy({ ...allowed, ...policy })), by('user', secret), ...more];
    const since = 100 + written.length;
    const reconciles = [{ ...reconcile, by: 'preload', since, messages }];
    const made = by('preload', aVMDiskImage({ spec: { url } }), { since });
    return check(aHistory([...written, made], { reconciles }), [s19Tenancy]).map(({ message }) => message);
  };
  const byStranger = ['vmdi-farm/ubuntu was published by a stranger'];

  test.each<[string, Delivered, Parameters<typeof faultsOf>[1]]>([
    ['that a key of the Secret signed', signedBy(key), {}],
    ['that one of several keys signed', signedBy(another), { secret: keys(key, another) }],
    [
      'without a signature, where the policy takes such',
      { id: '1', data },
      { policy: { unsignedPublications: 'Accept' } },
    ],
  ])('%s', (_, message, options) => {
    expect(faultsOf([message], options)).toEqual([]);
  });

  test.each<[string, Delivered[]]>([
    ['that was not delivered', []],
    ['without a signature', [{ id: '1', data }]],
    ['that another key signed', [signedBy(another)]],
    ['whose signature is of another id', [signedBy(key, { id: '2' })]],
    [
      'whose signature is of other data',
      [signedBy(key, { content: JSON.stringify({ ...data, url: 'https://evil' }) })],
    ],
    ['whose signature is of another image', [signedBy(key, { content: JSON.stringify({ ...data, name: 'other' }) })]],
    ['of over five hours ago', [signedBy(key, { at: seconds - 6 * 3600 })]],
    ['of the future', [signedBy(key, { at: seconds + 3600 })]],
  ])('not if it is one %s', (_, messages) => {
    expect(faultsOf(messages)).toEqual(byStranger);
  });

  test('with a key that is taken out of the Secret, as long as its reconcile may have read it', () => {
    const out = (since: number) => {
      const reconciles = [{ ...reconcile, by: 'preload', since, messages: [signedBy(key)] }];
      const made = by('preload', aVMDiskImage({ spec: { url } }), { since });
      const written = [by('user', aPolicy(allowed)), by('user', keys(key)), by('user', keys(another)), made];
      return check(aHistory(written, { reconciles }), [s19Tenancy]).map(({ message }) => message);
    };
    expect(out(102)).toEqual([]);
    expect(out(103)).toEqual(byStranger);
  });

  test('by a reconcile that read what was before it', () => {
    const reconciles = [{ ...reconcile, by: 'preload', since: 102, messages: [signedBy(key)] }];
    const made = by('preload', aVMDiskImage({ spec: { url } }), { since: 101 });
    const written = [by('user', aPolicy(allowed)), by('user', keys(key)), made];
    expect(check(aHistory(written, { reconciles }), [s19Tenancy])).toEqual([]);
  });

  test('of an allowed source only', () => {
    expect(faultsOf([signedBy(key)], { policy: { allowedSources: 'https://other.example/**' } })).toEqual([
      expect.stringContaining('which the policy does not allow'),
    ]);
  });
});

describe('a network is joined', () => {
  const machineOn = (...networks: string[]) => ({
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: ObjectMeta.parse({ name: 'web', namespace: 'lab', uid: 'uid-web' }),
    spec: { template: { spec: { networks: networks.map((networkName) => ({ multus: { networkName } })) } } },
  });
  const machine = (...networks: string[]) => by('provision-vm', machineOn(...networks), { since: 101 });

  test('by a machine, in its own namespace and those of machineNetworks', () => {
    expect(faults({}, machine('lab/net', 'net'))).toEqual([]);
    expect(faults({ machineNetworks: 'other, shared' }, machine('shared/net'))).toEqual([]);
  });
  test.each([{}, { machineNetworks: 'other' }, { machineNetworks: ' ' }])('in no other: %j', (policy: object) => {
    expect(faults(policy as never, machine('lab/net', 'shared/net'))).toEqual([
      'lab/web joins network shared/net, of a namespace that is not in machineNetworks',
    ]);
  });
  test('and kept if the policy closes it', () => {
    const closed = by('user', aPolicy({}));
    const again = by('provision-vm', machineOn('shared/net', 'lab/net'), { since: 104 });
    expect(faults({ machineNetworks: 'shared' }, machine('shared/net'), closed, again)).toEqual([]);
  });
});

describe('an instancetype', () => {
  const machineOf = (name: string) => ({
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: ObjectMeta.parse({ name: 'web', namespace: 'lab', uid: 'uid-web' }),
    spec: { instancetype: { name } },
  });
  const machine = (name: string, since = 101) => by('provision-vm', machineOf(name), { since });
  test.each(['gpu.large', 'u1.* gpu.*', '*'])('is one that the policy names: %s', (machineInstancetypes) => {
    expect(faults({ machineInstancetypes }, machine('gpu.large'))).toEqual([]);
  });
  test.each([{}, { machineInstancetypes: 'gpu.larger u1.*' }, { machineInstancetypes: 'gpu,large' }])(
    'is no other: %j',
    (policy: object) => {
      expect(faults(policy as never, machine('gpu.large'))).toEqual([
        'lab/web has instancetype gpu.large, which is not in machineInstancetypes',
      ]);
    },
  );
  test('is kept if the policy no longer names it', () => {
    const closed = by('user', aPolicy({}));
    expect(faults({ machineInstancetypes: '*' }, machine('gpu.large'), closed, machine('gpu.large', 104))).toEqual([]);
  });
});

describe('a Workspace', () => {
  const lab = aWorkspace({ name: 'lab', spec: { volumes: [{ name: 'data', size: '1Gi' }] } });
  const workload = (spec: object, { kind = 'Deployment', namespace = 'ws-lab', annotations = {} } = {}) => ({
    apiVersion: kind === 'Job' ? 'batch/v1' : 'apps/v1',
    kind,
    metadata: ObjectMeta.parse({ name: 'app', namespace, uid: 'uid-app' }),
    spec: {
      template: {
        metadata: { annotations },
        spec: { automountServiceAccountToken: false, containers: [{ env: [{ name: 'A', value: 'b' }] }], ...spec },
      },
    },
  });
  const made = (object: ReturnType<typeof workload>) =>
    faults({}, by('user', lab), by('compose-workspace', object, { since: 102 }));
  const volumes = (...found: object[]) => ({ volumes: found });
  const roles = volumes({ configMap: { name: 'inventory' } }, { secret: { secretName: 'ansible-credentials' } });

  test('mounts its own volumes, and what runs its roles the inventory and the login', () => {
    expect(made(workload(volumes({ persistentVolumeClaim: { claimName: 'data' } }, { emptyDir: {} })))).toEqual([]);
    expect(made(workload(roles, { kind: 'Job' }))).toEqual([]);
    const own = JSON.stringify([{ name: 'net', namespace: 'ws-lab' }, { name: 'other' }]);
    expect(made(workload({}, { annotations: { 'k8s.v1.cni.cncf.io/networks': own } }))).toEqual([]);
  });

  test.each<[string, ReturnType<typeof workload>]>([
    ['a Secret', workload(volumes({ secret: { secretName: 'login' } }))],
    ['the login of its roles', workload(roles)],
    ['another Secret for its roles', workload(volumes({ secret: { secretName: 'login' } }), { kind: 'Job' })],
    ['a ConfigMap', workload(volumes({ configMap: { name: 'any' } }))],
    ['a claim that is not of its volumes', workload(volumes({ persistentVolumeClaim: { claimName: 'other' } }))],
    ['files of the node', workload(volumes({ hostPath: { path: '/' } }))],
    ['a Secret in its environment', workload({ containers: [{ env: [{ name: 'A', valueFrom: {} }] }] })],
    ['a token', workload({ automountServiceAccountToken: true })],
    ['the account of another', workload({ serviceAccountName: 'admin' })],
    ['the login of a registry', workload({ imagePullSecrets: [{ name: 'pull' }] })],
    ['Pods in another namespace', workload({}, { namespace: 'tenant' })],
    [
      'the network of another',
      workload({}, { annotations: { 'k8s.v1.cni.cncf.io/networks': '[{"name":"net","namespace":"ws-other"}]' } }),
    ],
  ])('has not %s', (_, object) => {
    expect(made(object)).toHaveLength(1);
  });

  test.each([{ volumeName: 'pv-1' }, { dataSource: {} }, { dataSourceRef: { namespace: 'ws-other' } }])(
    'has volumes that are empty at first, not %j',
    (more) => {
      const claim = (spec: object) =>
        by(
          'compose-workspace',
          PersistentVolumeClaim.parse({ metadata: { name: 'data', namespace: 'ws-lab', uid: 'uid-data' }, spec }),
          { since: 102 },
        );
      const resources = { requests: { storage: '1Gi' } };
      expect(faults({}, by('user', lab), claim({ resources }))).toEqual([]);
      expect(faults({}, by('user', lab), claim({ resources, ...more }))).toEqual([
        'the claim ws-lab/data has the content of another volume',
      ]);
    },
  );
});
