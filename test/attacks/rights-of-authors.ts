import { expect } from 'vitest';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { NetworkAttachmentDefinition } from '../../shared/kinds/cni/network-attachment-definition.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { Pod } from '../../shared/kinds/core/pod.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { RoleBinding } from '../../shared/kinds/rbac/role-binding.ts';
import type { Resource } from '../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { policyRef } from '../../shared/policy.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { aVMDiskImage } from '../support/builders/images.ts';
import { type Account, type Attack, forbidden, tokenOf } from './attack.ts';

/** Has the roles `view` and `edit` of deploy/production/roles in a namespace of its own, and nothing anywhere else. */
export const author: Account = { namespace: 'tenant-a', name: 'mallory' };
/** May make Workspaces, which have no namespace, and nothing else. */
export const authorOfLabs: Account = { namespace: 'tenant-a', name: 'mallory-of-labs' };

const own = (name: string) => ({ name, namespace: author.namespace });
const farm = (name: string) => ({ name, namespace: 'vmdi-farm' });
const operator = (name: string) => ({ name, namespace: operatorNamespace });

const { spec } = aVMDiskImage();
const status = { subresource: 'status' } as const;
const reads = (kind: Resource, ref: { namespace?: string; name: string }) => (kube: Kube) => kube.get(kind, ref);
const makes = (kind: Resource, ref: { namespace?: string; name: string }, more: object) => (kube: Kube) =>
  kube.create(kind, { metadata: ref, ...more });

/** What is tried, what would be gained, and the request. */
type Attempt = [name: string, gains: string, request: (kube: Kube) => Promise<unknown>];

const byAuthors: readonly Attempt[] = [
  ['makes an image in the image namespace', 'what all others boot', makes(VMDiskImage, farm('windows-2025'), { spec })],
  [
    'changes an image of the image namespace',
    'what all others boot',
    (kube) => kube.patch(VMDiskImage, farm('ubuntu'), { spec: { url: 'https://evil.example/x' } }),
  ],
  [
    'releases the holds of an image',
    'the deletion of an image that others use',
    (kube) =>
      kube.patch(VMDiskImage, farm('ubuntu'), { metadata: { annotations: { 'pelotech.ot/release-holds': 'true' } } }),
  ],
  ['reads the spec of a foreign image', 'its URL and the name of its Secret', reads(VMDiskImage, farm('ubuntu'))],
  [
    'lists the images of all namespaces',
    'their URLs and the names of their Secrets',
    (kube) => kube.list(VMDiskImage, {}),
  ],
  [
    'records a disk as made for its machine',
    'a disk of choice in place of the image, and what is reported of a foreign image',
    (kube) => kube.patch(VirtualMachine, own('vm'), { status: { rootDisk: { made: 'any' } } }, status),
  ],
  [
    'says that an image of its own has a snapshot',
    'a clone of any snapshot',
    (kube) => kube.patch(VMDiskImage, own('image'), { status: { phase: 'Succeeded' } }, status),
  ],
  ['reads a Secret of another tenant', 'its passwords', reads(Secret, { name: 'login', namespace: 'tenant-b' })],
  ['reads a Secret of the image namespace', 'all that its credential reads', reads(Secret, farm('s3-reader'))],
  [
    'reads the keys of publications',
    'any image, under the name of a pipeline',
    reads(Secret, operator('publication-keys')),
  ],
  ['reads the key of all labs', 'a login on each of their machines', reads(Secret, operator('workspace-key'))],
  [
    'opens the policy',
    'all that it refuses',
    (kube) => kube.patch(ConfigMap, policyRef, { data: { hostPorts: '443/tcp' } }),
  ],
  ['deletes the policy', 'a default, if one were open', (kube) => kube.delete(ConfigMap, policyRef)],
  [
    'takes the slots',
    'an end of all downloads',
    (kube) => kube.patch(Lease, operator('sync-slots'), { metadata: { annotations: { 'pelotech.ot/slots': '[]' } } }),
  ],
  [
    'makes a download in the image namespace',
    'any content under the label of an image',
    makes(DataVolume, farm('x'), {}),
  ],
  [
    'makes a snapshot in the image namespace',
    'any content as a revision of an image',
    makes(VolumeSnapshot, farm('x'), {}),
  ],
  ['has Kubernetes make the token of a function', 'its rights', tokenOf(operator('provision-vm'))],
  ['runs a Pod beside the functions', 'the rights of any of them', makes(Pod, operator('x'), {})],
  [
    'gives itself a role',
    'the cluster',
    makes(RoleBinding, own('x'), {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', ...author }],
    }),
  ],
  [
    'makes a network in a lab',
    'its traffic',
    makes(NetworkAttachmentDefinition, { name: 'x', namespace: 'ws-victim' }, { spec: { config: '{}' } }),
  ],
  ['makes a Workspace', 'Pods of choice, and a namespace', makes(Workspace, { name: 'lab' }, { spec: {} })],
];

const byAuthorsOfLabs: readonly Attempt[] = [
  [
    'says that a Workspace is its namespace',
    'what is made in another namespace',
    (kube) => kube.patch(Workspace, { name: 'victim' }, { status: { phase: 'Ready' } }, status),
  ],
  ['makes a Namespace of a lab itself', 'one without the limits of Pods', makes(Namespace, { name: 'ws-mine' }, {})],
  [
    'reads the key of a lab',
    'a login on its machines',
    reads(Secret, { name: 'ansible-credentials', namespace: 'ws-victim' }),
  ],
  [
    'runs a Pod in a lab',
    'what a Workspace may not have: the token, the host',
    makes(Pod, { name: 'x', namespace: 'ws-victim' }, {}),
  ],
  [
    'opens the policy',
    'host ports and capabilities',
    (kube) => kube.patch(ConfigMap, policyRef, { data: { hostPorts: '443/tcp' } }),
  ],
  ['makes a machine in a namespace', 'a guest with its Secrets', makes(VirtualMachine, own('x'), {})],
];

const attacksOf = (who: string, account: Account, attempts: readonly Attempt[]): Attack[] =>
  attempts.map(([name, gains, request]) => ({
    name: `${who} ${name}`,
    gains,
    run: async ({ as }) => expect(request(await as(account))).rejects.toMatchObject(forbidden),
  }));

export const attacks: readonly Attack[] = [
  {
    name: 'an author does in the own namespace what the roles are for, and no more',
    gains: 'nothing: it shows that the account works',
    run: async ({ kube, as }) => {
      const mallory = await as(author);
      await mallory.create(VMDiskImage, { metadata: own('image'), spec });
      await mallory.create(VirtualMachine, {
        metadata: own('vm'),
        spec: { resources: { cpu: '1', memory: '1Gi' }, vmDiskImageRef: own('image') },
      });
      expect(await mallory.list(VirtualMachine, { namespace: author.namespace })).toHaveLength(1);
      const lab = { metadata: { name: 'mallorys' }, spec: {} };
      await (await as(authorOfLabs)).create(Workspace, lab);
      await kube.delete(Workspace, lab.metadata);
    },
  },
  ...attacksOf('an author', author, byAuthors),
  ...attacksOf('an author of Workspaces', authorOfLabs, byAuthorsOfLabs),
];
