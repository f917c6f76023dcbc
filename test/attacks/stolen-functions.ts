import { expect } from 'vitest';
import { loadAllFunctions } from '../../knative/functions.ts';
import { Deployment } from '../../shared/kinds/apps/deployment.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import { Pod } from '../../shared/kinds/core/pod.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { Trigger } from '../../shared/kinds/eventing/trigger.ts';
import { KubeVirtMachine } from '../../shared/kinds/kubevirt/virtual-machine.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { ClusterRole } from '../../shared/kinds/rbac/cluster-role.ts';
import { RoleBinding } from '../../shared/kinds/rbac/role-binding.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { controlledBy } from '../../shared/kubernetes/ownership.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { policyRef } from '../../shared/policy.ts';
import { ApiError } from '../../shared/runtime/errors.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { ClusterRoleBinding } from '../support/builders/access.ts';
import { aVMDiskImage } from '../support/builders/images.ts';
import { type Attack, forbidden, invalid, type Target, tokenOf } from './attack.ts';

// The attacker runs code in the process of a function, and has its token.

const system = (name: string) => ({ name, namespace: 'kube-system' });
const operator = (name: string) => ({ name, namespace: operatorNamespace });
const tenant = (name: string) => ({ name, namespace: 'tenant-b' });
const status = { subresource: 'status' } as const;
const apiGroup = 'rbac.authorization.k8s.io';
/** The right to read every Secret. */
const rightsTo = (name: string) => ({
  roleRef: { apiGroup, kind: 'ClusterRole', name: 'sync-operator-provision-vm' },
  subjects: [{ kind: 'ServiceAccount', ...operator(name) }],
});
const { spec } = aVMDiskImage();
/** An image and a machine of a victim. */
export const bait = tenant('bait');
const labelled = (by: string) => ({ metadata: { labels: { by } } });

/** What is tried, with what function's token, and the functions that do it: what they are made for cannot be taken from them. */
type Theft = [name: string, request: (kube: Kube, by: string) => Promise<unknown>, by?: readonly string[]];

const readsAnySecret = ['provision-vm', 'start-sync'];
const onOpenStack = ['keep-account', 'provision-network', 'provision-server', 'provision-volume'];

const thefts: readonly Theft[] = [
  [
    'gives itself a right everywhere',
    (kube, by) => kube.create(ClusterRoleBinding, { metadata: { name: by }, ...rightsTo(by) }),
  ],
  [
    'gives itself a right with a tenant',
    (kube, by) => kube.create(RoleBinding, { metadata: tenant(by), ...rightsTo(by) }),
  ],
  [
    'gives itself a right in a lab',
    (kube, by) => kube.create(RoleBinding, { metadata: { name: by, namespace: 'ws-victim' }, ...rightsTo(by) }),
  ],
  ['widens a role', (kube) => kube.patch(ClusterRole, { name: 'sync-operator-prune' }, { rules: [] })],
  ['has Kubernetes make the token of another', (kube) => tokenOf(system('default'))(kube)],
  ['runs a Pod beside the functions', (kube, by) => kube.create(Pod, { metadata: operator(by), spec: {} })],
  ['runs a Deployment with a tenant', (kube, by) => kube.create(Deployment, { metadata: tenant(by), spec: {} })],
  ['opens the policy', (kube) => kube.patch(ConfigMap, policyRef, { data: { hostPorts: '443/tcp' } })],
  ['leads events elsewhere', (kube) => kube.patch(Trigger, operator('prune'), { spec: {} })],
  ['lists Secrets', (kube) => kube.list(Secret, { namespace: 'kube-system' })],
  ['reads a Secret of the system', (kube) => kube.get(Secret, system('bait')), readsAnySecret],
  [
    'reads a Secret of the image namespace',
    (kube) => kube.get(Secret, { name: 's3-reader', namespace: 'vmdi-farm' }),
    [...readsAnySecret, 'inspect-source'],
  ],
  [
    'reads the keys of publications',
    (kube) => kube.get(Secret, operator('publication-keys')),
    [...readsAnySecret, 'preload'],
  ],
  [
    'reads the key of all labs',
    (kube) => kube.get(Secret, operator('workspace-key')),
    [...readsAnySecret, 'compose-workspace'],
  ],
  [
    'reads an account at OpenStack',
    (kube) => kube.get(Secret, tenant('openstack-credentials')),
    [...readsAnySecret, ...onOpenStack],
  ],
  [
    "reads the administrator's account at OpenStack",
    (kube) => kube.get(Secret, operator('openstack-credentials')),
    [...readsAnySecret, ...onOpenStack, 'retire-project'],
  ],
  [
    'changes an account at OpenStack',
    (kube) => kube.patch(Secret, tenant('openstack-credentials'), {}),
    ['keep-account'],
  ],
  ['changes a Secret of the system', (kube) => kube.patch(Secret, system('bait'), {})],
  ['makes a Secret', (kube, by) => kube.create(Secret, { metadata: system(by) })],
  [
    'makes an image',
    (kube, by) => kube.create(VMDiskImage, { metadata: tenant(`of-${by}`), spec }),
    ['compose-workspace', 'ensure-vmdi', 'preload'],
  ],
  ['changes an image', (kube, by) => kube.patch(VMDiskImage, bait, { spec: { name: by } }), ['preload']],
  ['labels an image', (kube, by) => kube.patch(VMDiskImage, bait, labelled(by)), ['preload', 'prune', 'start-sync']],
  [
    'says what an image is',
    (kube) => kube.patch(VMDiskImage, tenant('none'), { status: {} }, status),
    ['count-refs', 'follow-sync', 'inspect-source', 'prune', 'start-sync'],
  ],
  ['deletes an image', (kube) => kube.delete(VMDiskImage, tenant('none')), ['prune']],
  [
    'deletes the disk of a machine',
    (kube) => kube.delete(DataVolume, tenant('none')),
    ['follow-sync', 'provision-vm', 'prune'],
  ],
  ['deletes a claim', (kube) => kube.delete(PersistentVolumeClaim, tenant('none')), ['prune']],
  ['deletes a snapshot', (kube) => kube.delete(VolumeSnapshot, tenant('none')), ['follow-sync', 'prune']],
  [
    'makes a volume',
    (kube, by) =>
      kube.create(DataVolume, {
        metadata: tenant(`of-${by}`),
        spec: { source: { blank: {} }, storage: { resources: { requests: { storage: '1Gi' } } } },
      }),
    ['provision-vm', 'start-sync'],
  ],
  ['takes the slots', (kube) => kube.create(Lease, { metadata: operator('bait'), spec: {} }), ['start-sync']],
  [
    'reads the passwords of machines',
    (kube) => kube.list(VirtualMachine, { namespace: 'tenant-b' }),
    ['count-refs', 'ensure-vmdi', 'provision-vm', 'prune', 'start-sync'],
  ],
  ['changes a machine', (kube) => kube.patch(VirtualMachine, bait, { spec: { resources: { memory: '2Gi' } } })],
  ['labels a machine', (kube, by) => kube.patch(VirtualMachine, bait, labelled(by)), ['count-refs']],
  [
    'says what a machine is',
    (kube) => kube.patch(VirtualMachine, tenant('none'), { status: {} }, status),
    ['ensure-vmdi', 'provision-vm'],
  ],
  [
    'runs a guest',
    (kube, by) =>
      kube.create(KubeVirtMachine, {
        metadata: tenant(`of-${by}`),
        spec: { template: { spec: { domain: { devices: {} } } } },
      }),
    ['provision-vm'],
  ],
  ['changes a Workspace', (kube) => kube.patch(Workspace, { name: 'none' }, { spec: {} }), ['compose-workspace']],
  ['makes a Workspace', (kube, by) => kube.create(Workspace, { metadata: { name: by }, spec: {} })],
  [
    'makes a Namespace of a lab',
    (kube, by) => kube.create(Namespace, { metadata: { name: `ws-of-${by}` } }),
    ['compose-workspace'],
  ],
  ['makes another Namespace', (kube, by) => kube.create(Namespace, { metadata: { name: `of-${by}` } })],
  [
    'changes another Namespace',
    async (kube) =>
      kube.replace(Namespace, {
        ...(await kube.get(Namespace, { name: 'tenant-b' })),
        metadata: { name: 'tenant-b', labels: { evil: 'true' } },
      } as never),
  ],
  ['deletes a Namespace of a tenant', (kube) => kube.delete(Namespace, { name: 'tenant-b' })],
];

const isRefused = (error: unknown) =>
  error instanceof ApiError && (error.status === forbidden.status || error.status === invalid.status);

/** The names of what is not refused to this function. */
async function succeeded({ as }: Target, by: string): Promise<string[]> {
  const stolen = await as(operator(by));
  const found: string[] = [];
  for (const [name, request] of thefts) {
    const isDone = await request(stolen, by).then(
      () => true,
      (error: unknown) => {
        if (!(error instanceof ApiError)) throw error;
        return !isRefused(error);
      },
    );
    if (isDone) found.push(name);
  }
  return found;
}

const takeovers = (await loadAllFunctions()).map(
  ({ name }): Attack => ({
    name: `who took ${name} over does what it is made for, and no more`,
    gains: 'the cluster',
    run: async (target) =>
      expect(await succeeded(target, name)).toEqual(
        thefts.filter(([, , by = []]) => by.includes(name)).map(([what]) => what),
      ),
  }),
);

/** A machine and another object that own Secrets, for Kubernetes deletes a Secret whose owner does not exist; and the stolen token of provision-vm. */
async function secretsOf({ kube, as }: Target) {
  const namespace = 'tenant-b';
  const there = { name: 'vm', namespace };
  const machineSpec = { resources: { cpu: '1', memory: '1Gi' }, vmDiskImageRef: { name: 'ubuntu', namespace } };
  const machine =
    (await kube.get(VirtualMachine, there)) ??
    (await kube.create(VirtualMachine, { metadata: there, spec: machineSpec }));
  const map = (await kube.get(ConfigMap, there)) ?? (await kube.create(ConfigMap, { metadata: there }));
  return {
    namespace,
    stolen: await as(operator('provision-vm')),
    ofMachine: { ownerReferences: [controlledBy(VirtualMachine, machine)] },
    ofMap: { ownerReferences: [controlledBy(ConfigMap, map)] },
  };
}
type Owners = Awaited<ReturnType<typeof secretsOf>>;

const data = { userdata: 'eA==' };

const secrets: readonly Attack[] = [
  ...['token', 'vm-cloud-init'].map(
    (name): Attack => ({
      name: `provision-vm has Kubernetes make a token of another ServiceAccount: ${name}`,
      gains: 'the whole cluster',
      run: async (target) => {
        const { stolen, namespace, ofMachine } = await secretsOf(target);
        const annotations = { 'kubernetes.io/service-account.name': 'default' };
        const type = 'kubernetes.io/service-account-token';
        const made = stolen.create(Secret, { metadata: { namespace, name, annotations, ...ofMachine }, type });
        await expect(made).rejects.toMatchObject(invalid);
      },
    }),
  ),
  ...(
    [
      ['tls', () => ({})],
      ['tls', ({ ofMachine }) => ofMachine],
      ['vm-cloud-init', () => ({})],
      ['vm-cloud-init', ({ ofMap }) => ofMap],
      ['another-cloud-init', ({ ofMachine }) => ofMachine],
    ] satisfies [string, (owners: Owners) => object][]
  ).map(
    ([name, owner], index): Attack => ({
      name: `provision-vm makes or changes a Secret that is no machine's: ${name} (${index + 1})`,
      gains: "what others trust: a webhook's certificate, a registry's login, another machine's passwords",
      run: async (target) => {
        const owners = await secretsOf(target);
        const { stolen, namespace, ofMachine } = owners;
        const metadata = { namespace, name, ...owner(owners) };
        await expect(stolen.create(Secret, { metadata, data })).rejects.toMatchObject(invalid);
        const theirs = await target.kube.create(Secret, { metadata, data });
        await expect(stolen.replace(Secret, { ...theirs, data: { userdata: 'eQ==' } })).rejects.toMatchObject(invalid);
        const taken = { ...theirs, metadata: { ...theirs.metadata, ...ofMachine } };
        await expect(stolen.replace(Secret, taken)).rejects.toMatchObject(invalid);
        expect((await target.kube.get(Secret, metadata))?.data).toEqual(data);
        await target.kube.delete(Secret, metadata);
      },
    }),
  ),
  {
    name: 'provision-vm writes the Secret of a machine, which may have another owner besides, and deletes none',
    gains: 'nothing: it is what it is made for',
    run: async (target) => {
      const { stolen, namespace, ofMachine, ofMap } = await secretsOf(target);
      const metadata = { namespace, name: 'vm-cloud-init', ...ofMachine };
      const made = await stolen.create(Secret, { metadata, data, type: 'Opaque' });
      const besides = ofMap.ownerReferences.map((one) => ({ ...one, controller: false }));
      const ownerReferences = [...ofMachine.ownerReferences, ...besides];
      const changed = { ...made, metadata: { ...made.metadata, ownerReferences }, data: { userdata: 'eQ==' } };
      expect((await stolen.replace(Secret, changed)).data).toEqual({ userdata: 'eQ==' });
      await expect(stolen.delete(Secret, metadata)).rejects.toMatchObject(forbidden);
      await target.kube.delete(Secret, metadata);
    },
  },
];

export const attacks: readonly Attack[] = [...takeovers, ...secrets];
