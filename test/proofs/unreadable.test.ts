import { expect, test } from 'vitest';
import countRefs from '../../functions/count-refs/index.ts';
import ensureVmdi from '../../functions/ensure-vmdi/index.ts';
import provisionVm from '../../functions/provision-vm/index.ts';
import prune from '../../functions/prune/index.ts';
import { type Batch, type FunctionDeclaration, noEvents, type Subject } from '../../shared/function.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { NetworkAttachmentDefinition } from '../../shared/kinds/cni/network-attachment-definition.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { KubeVirtMachine } from '../../shared/kinds/kubevirt/virtual-machine.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { diskImageFinalizer, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { madeForWorkspaces, Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import type { Resource } from '../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { ApiError } from '../../shared/runtime/errors.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { aVMDiskImage } from '../support/builders/images.ts';
import { aVirtualMachine } from '../support/builders/machines.ts';
import { memoryKube } from '../support/harness/memory-kube.ts';
import { aReadyImage } from '../support/harness/provision-vm.ts';
import { reconcileOnce } from '../support/harness/reconcile-once.ts';

const farm = 'vmdi-farm';

/** Machine a of image a in namespace lab-a, and b of b in lab-b; images `deleted` and `unused` that no machine names. */
async function cluster() {
  const kube = memoryKube();
  for (const name of ['a', 'b']) {
    await kube.create(VMDiskImage, { ...aReadyImage(), metadata: { namespace: farm, name } });
    const { spec } = aVirtualMachine();
    const interfaces = [{ network: `net-${name}`, ipAddress: `10.0.0.1/24` }];
    const vmDiskImageRef = { namespace: farm, name };
    const metadata = { namespace: `lab-${name}`, name };
    const users = [{ name: 'ops', passwordSecretRef: { name: 'password', key: 'password' } }];
    await kube.create(VirtualMachine, { metadata, spec: { ...spec, interfaces, users, vmDiskImageRef } });
  }
  for (const name of ['deleted', 'unused']) {
    const metadata = { namespace: farm, name, labels: madeForWorkspaces, finalizers: [diskImageFinalizer] };
    const status = { unreferencedSince: '2026-01-01T00:00:00Z' };
    await kube.create(VMDiskImage, { ...aVMDiskImage(), metadata, status });
  }
  await kube.delete(VMDiskImage, { namespace: farm, name: 'deleted' });
  return kube;
}

type Refuses = (read: { kind: string; namespace?: string | undefined; name?: string; selector: string }) => boolean;

/** Those of the subjects whose events are redelivered after a reconcile about all of them in which some reads fail. */
async function redelivered(declaration: FunctionDeclaration, subjects: readonly Subject[], refuses: Refuses) {
  const kube = await cluster();
  const checked = ({ kind }: Resource, read: Omit<Parameters<Refuses>[0], 'kind'>) => {
    if (refuses({ kind, ...read })) throw new ApiError(500, 'InternalError', 'out of order');
  };
  const list: Kube['list'] = async (resource, options = {}) => {
    const { namespace, labelSelector = '', fieldSelector = '' } = options;
    checked(resource, { namespace, selector: labelSelector + fieldSelector });
    return kube.list(resource, options);
  };
  const refusing: Kube = {
    ...kube,
    get: async (resource, ref) => {
      checked(resource, { ...ref, selector: '' });
      return kube.get(resource, ref);
    },
    list,
    async *pages(resource, options) {
      yield { items: await list(resource, options), resourceVersion: '1' };
    },
  };
  const batch: Batch = { ...noEvents, subjects };
  const verdict = await reconcileOnce({ ...declaration, decide: () => [] }, { kube: refusing, batch });
  const errors = await Promise.all(subjects.map((subject) => verdict({ ...batch, subjects: [subject] })));
  return subjects.filter((_, index) => errors[index] !== undefined).map(({ kind, name }) => `${kind} ${name}`);
}

const about = ({ apiVersion, kind }: Resource, ...refs: [namespace: string | undefined, name: string][]): Subject[] =>
  refs.map(([namespace, name]) => ({ apiVersion, kind, namespace, name }));
const machines = about(VirtualMachine, ['lab-a', 'a'], ['lab-b', 'b']);
const images = about(VMDiskImage, [farm, 'a'], [farm, 'b']);
const workspaces = about(Workspace, [undefined, 'w']);
const pruned = about(VMDiskImage, [farm, 'deleted'], [farm, 'unused']);

type Row = [string, string, readonly Subject[], Refuses, string[]];

const functions = Object.fromEntries([countRefs, ensureVmdi, provisionVm, prune].map((one) => [one.name, one]));

const rows: readonly Row[] = [
  ...[countRefs.name, ensureVmdi.name].flatMap((name): Row[] => [
    [name, 'image', machines, ({ kind, name: of }) => kind === VMDiskImage.kind && of === 'a', ['VirtualMachine a']],
    [name, 'list of machines', images, ({ selector }) => selector.includes('name=a'), ['VMDiskImage a']],
  ]),
  [
    countRefs.name,
    'workspace',
    [...workspaces, ...images],
    ({ kind, name }) => kind === Workspace.kind && name === 'w',
    ['Workspace w'],
  ],
  [
    ensureVmdi.name,
    'list of the machines of a namespace',
    [...about(Namespace, [undefined, 'other']), ...images],
    ({ selector }) => selector.includes('namespace=other'),
    ['Namespace other'],
  ],
  ...[VMDiskImage, DataVolume, KubeVirtMachine].map(
    (resource): Row => [
      provisionVm.name,
      resource.kind,
      machines,
      ({ kind, name }) => kind === resource.kind && name?.startsWith('a') === true,
      ['VirtualMachine a'],
    ],
  ),
  ...[NetworkAttachmentDefinition, Secret, VirtualMachine].map(
    (resource): Row => [
      provisionVm.name,
      `${resource.kind} of the namespace`,
      machines,
      ({ kind, namespace }) => kind === resource.kind && namespace === 'lab-a',
      ['VirtualMachine a'],
    ],
  ),
  ...[DataVolume, VolumeSnapshot, Lease].map(
    ({ kind: refused }): Row => [prune.name, refused, pruned, ({ kind }) => kind === refused, ['VMDiskImage deleted']],
  ),
  [
    prune.name,
    'list of machines',
    pruned,
    ({ selector }) => selector.includes('name=deleted'),
    ['VMDiskImage deleted'],
  ],
];

test.each(rows)('%s: if it cannot read %s, it fails no other object', async (name, _, subjects, refuses, found) => {
  expect(await redelivered(functions[name] as FunctionDeclaration, subjects, refuses)).toEqual(found);
});
