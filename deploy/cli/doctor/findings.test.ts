import { expect, test } from 'vitest';
import { egressAnnotation } from '../../../shared/images/egress.ts';
import { slotsAnnotation } from '../../../shared/images/slots.ts';
import { Lease } from '../../../shared/kinds/coordination/lease.ts';
import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { at, aVMDiskImage, start } from '../../../test/support/builders/images.ts';
import { aVirtualMachine } from '../../../test/support/builders/machines.ts';
import { aKupenStackMachine, aVolume } from '../../../test/support/builders/openstack.ts';
import { manifestKey } from '../../manifests.ts';
import type { AnyObject } from '../install/kinds.ts';
import { lackingIn } from './definitions.ts';
import { findingLines, findingsOf } from './findings.ts';
import type { Installation } from './installation.ts';
import { missingRights } from './permissions.ts';

const object = (apiVersion: string, kind: string, name: string, more: object = {}): AnyObject => ({
  apiVersion,
  kind,
  metadata: {
    name,
    namespace: 'sync-operator',
    uid: `uid-${name}`,
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: at(0),
  },
  ...more,
});
const isReady = (status: string, message = '') => ({ status: { conditions: [{ type: 'Ready', status, message }] } });
const trigger = object('eventing.knative.dev/v1', 'Trigger', 'prune-images', {
  ...isReady('True'),
  spec: { subscriber: { ref: { name: 'prune' } } },
});
const leavingTrigger = { ...trigger, metadata: { ...trigger.metadata, deletionTimestamp: at(0) } };
const gp3 = object('storage.k8s.io/v1', 'StorageClass', 'gp3', { provisioner: 'ebs' });
const snapshots = object('snapshot.storage.k8s.io/v1', 'VolumeSnapshotClass', 'ebs-snapshot', { driver: 'ebs' });
const whole: Installation = {
  nowMs: start + 600_000,
  requirements: [],
  shipped: [trigger],
  there: new Map([[manifestKey(trigger), trigger]]),
  subscriptions: [],
  channels: [],
  workloads: [],
  storageClasses: [gp3],
  snapshotClasses: [snapshots],
  storageProfiles: undefined,
  policy: undefined,
  lease: undefined,
  images: [],
  machines: [],
  namespaces: new Set(['vmdi-farm']),
  secrets: new Map(),
  hasOpenStack: false,
  onOpenStack: [],
  accountSecrets: new Map(),
  hasPublicationKey: true,
  hasSiteKey: true,
};
const aPolicy = (data: Record<string, string>) => ConfigMap.parse({ metadata: { name: 'p' }, data });
const found = (more: Partial<Installation>) => findingsOf({ ...whole, ...more });
const channelOf = (...uids: string[]) =>
  object('messaging.knative.dev/v1', 'InMemoryChannel', 'default-kne-trigger', {
    spec: { subscribers: uids.map((uid) => ({ uid })) },
  });
const subscription = object('messaging.knative.dev/v1', 'Subscription', 'one', isReady('True'));
subscription.metadata.ownerReferences = [
  { apiVersion: 'v1', kind: 'Trigger', name: 'prune-images', uid: 'uid-prune-images' },
];
const profile = (status: object) => [object('cdi.kubevirt.io/v1beta1', 'StorageProfile', 'gp3', { status })];
const image = (status?: Parameters<typeof aVMDiskImage>[0]) =>
  aVMDiskImage({ spec: { storageClass: 'gp3', snapshotClass: 'ebs-snapshot' }, ...status });
const lease = (text: string) =>
  Lease.parse({ metadata: { name: 'sync-slots', annotations: { [slotsAnnotation]: text } } });

const onCloud = { hasOpenStack: true, onOpenStack: [aKupenStackMachine({ status: { phase: 'Pending' } })] };
const accounts = (own: boolean | undefined, shared: boolean | undefined) =>
  new Map([
    ['lab/openstack-credentials', own],
    ['sync-operator/openstack-credentials', shared],
  ]);

test.each([
  [
    'the download of its content by another',
    {
      images: ['Syncing', 'Queued'].map((phase) =>
        image({
          name: phase.toLowerCase(),
          status: {
            phase: phase as 'Queued',
            queuedAt: at(0),
            startedAt: at(590),
            revision: 1,
            source: { bytes: 1, content: 'same', inspectedAt: at(0), queuedAt: at(0) },
          },
        }),
      ),
    },
  ],
  [
    'the budget',
    {
      images: [image({ status: { phase: 'Queued', queuedAt: at(0) } })],
      policy: aPolicy({ egressBudget: '1Gi/30d' }),
      lease: Lease.parse({
        metadata: {
          name: 'sync-slots',
          annotations: {
            [slotsAnnotation]: '[]',
            [egressAnnotation]: JSON.stringify({ '2026-01-01': { lab: 2 ** 30 } }),
          },
        },
      }),
    },
  ],
] as const)('an image that waits for %s is not reported as waiting beside a free slot', (_, more) => {
  expect(found(more).filter(({ expected }) => expected === 'a slot, as one is free')).toEqual([]);
});

test('of two that want the same content, only the first is missing a free slot', () => {
  const source = { bytes: 1, content: 'same', inspectedAt: at(0), queuedAt: at(0) };
  const both = ['a', 'b'].map((name) => image({ name, status: { phase: 'Queued', queuedAt: at(0), source } }));
  const stuck = found({ images: both }).filter(({ expected }) => expected === 'a slot, as one is free');
  expect(stuck.map(({ name }) => name)).toEqual(['VMDiskImage vmdi-farm/a']);
});

test('a complete installation has no findings', () => {
  for (const [own, shared] of [
    [true, false],
    [false, true],
    [true, undefined],
  ])
    expect(found({ ...onCloud, accountSecrets: accounts(own, shared) })).toEqual([]);
  const heard = { channels: [channelOf('uid-one')], subscriptions: [subscription] };
  expect(found({ ...heard, images: [image({ status: { phase: 'Succeeded' } })], lease: lease('[]') })).toEqual([]);
});

test.each<[string, Partial<Installation>, RegExp, RegExp]>([
  [
    'a dead subscriber',
    { channels: [channelOf('uid-one', 'dead')], subscriptions: [subscription] },
    /^Channel default/,
    /delete inmemorychannel/,
  ],
  [
    'a Trigger without a subscriber',
    { channels: [channelOf()], subscriptions: [subscription] },
    /^Trigger prune/,
    /annotate subscriptions/,
  ],
  [
    'a Trigger whose Subscription could not write the channel',
    {
      channels: [channelOf('uid-one')],
      subscriptions: [{ ...subscription, ...isReady('False', 'PhysicalChannelSyncFailed') }],
    },
    /^Trigger prune/,
    /annotate subscriptions/,
  ],
  [
    'a Trigger that is being deleted',
    { there: new Map([[manifestKey(trigger), leavingTrigger]]) },
    /^Trigger prune-images in sync-operator/,
    /^kubectl wait --for=delete Trigger\/prune-images -n sync-operator, then ot-functions upgrade$/,
  ],
  [
    'a profile without claims',
    { images: [image()], nowMs: start, storageProfiles: profile({}) },
    /^StorageProfile gp3/,
    /claimPropertySets/,
  ],
  [
    'a profile that copies',
    { images: [image()], nowMs: start, storageProfiles: profile({ claimPropertySets: [{}], cloneStrategy: 'copy' }) },
    /^StorageProfile gp3/,
    /"cloneStrategy":"snapshot"/,
  ],
  ['no profile', { images: [image()], nowMs: start, storageProfiles: [] }, /^StorageProfile gp3/, /get cdi/],
  [
    'an image that a machine of another namespace uses and no longer keeps',
    {
      policy: aPolicy({ imageNamespaces: 'golden' }),
      namespaces: new Set(['golden']),
      machines: [aVirtualMachine({ status: { rootDisk: { name: 'd', image: 'uid-ubuntu', revision: 1 } } })],
    },
    /^Policy imageNamespaces/,
    /^ot-functions policy set imageNamespaces golden,vmdi-farm$/,
  ],
  ['slots that cannot be read', { lease: lease('garbage') }, /^Lease sync-slots/, /kubectl delete lease sync-slots/],
  [
    'an image that no function reconciles',
    { images: [image()] },
    /^VMDiskImage vmdi-farm\/ubuntu/,
    /kubectl logs.*start-sync/,
  ],
  [
    'an image that waits while a slot is free',
    { images: [image({ status: { phase: 'Queued', queuedAt: at(0) } })] },
    /^VMDiskImage/,
    /kubectl logs/,
  ],
  [
    'an image that downloads without a slot',
    { images: [image({ status: { phase: 'Syncing', startedAt: at(0) } })], lease: lease('[]') },
    /^VMDiskImage/,
    /^kubectl annotate vmdi ubuntu -n vmdi-farm /,
  ],
  [
    'a machine on OpenStack on a local cluster',
    { onOpenStack: [aKupenStackMachine()] },
    /^Machines on OpenStack/,
    /^none here: npm start runs no functions for OpenStack/,
  ],
  [
    'a namespace without an account on OpenStack',
    { ...onCloud, accountSecrets: accounts(false, false) },
    /^Secret lab\/openstack-credentials/,
    /^kubectl create secret generic openstack-credentials -n lab/,
  ],
  [
    'an account that the user may not read',
    { ...onCloud, accountSecrets: accounts(false, undefined) },
    /^Secret lab\/openstack-credentials/,
    /can-i get secrets -n sync-operator/,
  ],
  [
    'a volume that no function reconciles',
    { ...onCloud, onOpenStack: [aVolume()], accountSecrets: accounts(false, true) },
    /^Volume.kupenstack.io lab\/disk/,
    /name=provision-volume/,
  ],
  [
    'no key for pipelines to sign with',
    { hasPublicationKey: false },
    /^Secret sync-operator\/publication-keys/,
    /create secret generic publication-keys -n sync-operator/,
  ],
  [
    'no key to derive the keys of workspaces from',
    { hasSiteKey: false, policy: aPolicy({ ansibleCredentials: 'true' }) },
    /^Secret sync-operator\/workspace-key/,
    /create secret generic workspace-key -n sync-operator/,
  ],
  ['a Secret that the user may not read', { secrets: new Map([['a/b', undefined]]) }, /^Secret a\/b/, /auth can-i/],
  [
    'a release that is too old',
    { requirements: [{ name: 'CDI', result: 'missing', expected: '1.57', found: '1.2', remedy: 'upgrade CDI' }] },
    /^CDI/,
    /upgrade CDI/,
  ],
])('%s is found, with its remedy', (_, more, name, remedy) => {
  const [finding, ...others] = found(more);
  expect(finding?.name).toMatch(name);
  expect(finding?.remedy).toMatch(remedy);
  expect(others).toEqual([]);
});

test('machines on OpenStack need the overlay that has their functions, on a cluster that has some', () => {
  const workload = object('apps/v1', 'Deployment', 'start-sync');
  expect(found({ onOpenStack: [aKupenStackMachine()], workloads: [workload] })).toContainEqual(
    expect.objectContaining({ remedy: expect.stringMatching(/--overlay deploy\/production\/serving-openstack/) }),
  );
});

test('no key is needed where unsigned publications are accepted, and none is missed by who may not read it', () => {
  expect(found({ hasPublicationKey: false, policy: aPolicy({ unsignedPublications: 'Accept' }) })).toEqual([]);
  expect(found({ hasPublicationKey: undefined })).toEqual([]);
});

test('no key is needed where workspaces get none, and none is missed by who may not read it', () => {
  expect(found({ hasSiteKey: false })).toEqual([]);
  expect(found({ hasSiteKey: undefined, policy: aPolicy({ ansibleCredentials: 'true' }) })).toEqual([]);
});

test('fields that Knative adds, and another order of fields, are no difference', () => {
  const ref = { apiVersion: 'v1', kind: 'Service', name: 'prune' };
  const wanted = { ...trigger, spec: { filters: [{ exact: { type: 'a', kind: 'b' } }], subscriber: { ref } } };
  const spec = { filters: [{ exact: { kind: 'b', type: 'a' } }], subscriber: { ref: { ...ref, namespace: 'x' } } };
  const changed = (more: object) => ({
    shipped: [wanted],
    there: new Map([[manifestKey(trigger), { ...trigger, spec: { ...spec, ...more } }]]),
  });
  expect(found(changed({}))).toEqual([]);
  expect(found(changed({ filters: [...spec.filters, { exact: { type: 'c' } }] }))).toMatchObject([
    { name: 'Trigger prune-images', expected: 'its filters as shipped', remedy: 'ot-functions upgrade' },
  ]);
  expect(found(changed({ subscriber: { ref: { ...ref, name: 'other' } } }))).toMatchObject([
    { name: 'Trigger prune-images', expected: 'its subscriber as shipped' },
  ]);
});

test('each finding has what was expected, what was found, and the remedy', () => {
  const installation = { ...whole, lease: lease('garbage') };
  expect(findingLines(findingsOf(installation), installation)).toEqual([
    'Checked 1 installed object and 0 images. 1 finding; the first may be the cause of others.',
    '',
    'Lease sync-slots',
    '  expected  slots that parse',
    '  found     garbage',
    '  remedy    kubectl delete lease sync-slots -n sync-operator (start-sync creates it again from the running downloads)',
  ]);
});

test('the line of allowedSources that images wait for is named once, and not if the policy has it', () => {
  const labels = { 'app.kubernetes.io/created-by': 'ensure-vmdi' };
  const images = ['a', 'b'].map((name) => image({ name, labels, status: { phase: 'Failed' } }));
  const line = 'https://s3.eu-west-1.amazonaws.com/images/** s3-reader';
  expect(found({ images })).toMatchObject([{ name: 'Policy allowedSources', expected: `the line "${line}"` }]);
  const policy = ConfigMap.parse({ metadata: { name: 'sync-operator-policy' }, data: { allowedSources: line } });
  expect(found({ images, policy })).toEqual([]);
});

test('without findings, the doctor says how much it checked', () => {
  const there = { ...whole, images: [image(), image()] };
  expect(findingLines([], there)).toEqual(['Checked 1 installed object and 2 images. Nothing found.']);
  expect(findingLines([], { ...there, shipped: [], images: [image()] })).toEqual([
    'Checked 0 installed objects and 1 image. Nothing found.',
  ]);
});

test('rights are compared one by one, in whatever rules they are granted', () => {
  const wanted = [{ apiGroups: ['a'], resources: ['x', 'y'], verbs: ['get', 'list'] }];
  expect(missingRights(wanted, [{ apiGroups: ['*'], resources: ['x'], verbs: ['*'] }])).toEqual([
    'get y.a',
    'list y.a',
  ]);
  expect(missingRights(wanted, [{ ...wanted[0], resourceNames: ['one'] }])).toHaveLength(4);
});

test('an empty schema, which the API server drops, is no finding', () => {
  const definition = (schema: object) =>
    object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'x', {
      spec: { versions: [{ name: 'v1', ...schema }] },
      status: { conditions: [{ type: 'Established', status: 'True' }] },
    });
  const wanted = definition({ schema: { type: 'object', properties: {}, required: [] }, subresources: { status: {} } });
  const foundAs = (schema: object) =>
    found({ shipped: [wanted], there: new Map([[manifestKey(wanted), definition(schema)]]) });
  expect(foundAs({ schema: { type: 'object' }, subresources: { status: {} } })).toEqual([]);
  expect(foundAs({ schema: { type: 'object' }, subresources: {} })).toMatchObject([
    { name: 'CRD x', found: 'an older one, without v1.subresources.status' },
  ]);
});

test('a definition may have more than the manifest, but not less', () => {
  expect(lackingIn({ a: [{ b: 1 }] }, { a: [{ b: 1, c: 2 }], d: 3 }, '')).toBeUndefined();
  expect(lackingIn({ a: [{ b: 1 }] }, { a: [{ c: 2 }] }, '')).toBe('a.0.b');
});

test('what was found is on one line and commands no terminal', () => {
  const finding = { name: 'Trigger t', expected: 'Ready', found: 'cut\u001b[2J\noff', remedy: 'wait' };
  expect(findingLines([finding], whole)).toContain('  found     cut [2J off');
});

test('a namespace of the policy that does not exist is to be created, or was misspelt', () => {
  const remedies = (imageNamespaces: string) =>
    found({ policy: aPolicy({ imageNamespaces }) })
      .filter(({ name }) => name === 'Policy imageNamespaces')
      .map((finding) => [finding.found, finding.remedy]);
  expect(remedies('vmdi-farm golden')).toEqual([['none', 'kubectl create namespace golden']]);
  expect(remedies('vmdi-fram')).toEqual([
    ['none; was vmdi-farm meant?', 'kubectl edit configmap sync-operator-policy -n sync-operator'],
  ]);
});
