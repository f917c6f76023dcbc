import { NetworkAttachmentDefinition } from '../../shared/kinds/cni/network-attachment-definition.ts';
import { type MachineCondition, VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { ObjectReference } from '../../shared/kinds/resource.ts';
import type { Condition } from '../../shared/kinds/schema.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { putImage } from './images.ts';
import { refIn, until, untilGone, type World } from './world.ts';

type Spec = VirtualMachine['spec'];

/** The template of an image of the story's own: what `createImage` would make of that name. */
export const templateOf = (
  { store }: Pick<World, 'store'>,
  name: string,
): NonNullable<Spec['vmDiskImageTemplate']> => ({
  storageClass: 'gp3',
  snapshotClass: 'ebs-snapshot',
  secretRef: 's3-reader',
  sourceType: 's3',
  url: `${store.url}/images/${name}.qcow2`,
  diskSize: '64Mi',
});

/** Creates a machine like an admin would, on the image of that name in the story's namespace; without a template unless `spec` has one. */
export function createMachine(
  world: Pick<World, 'kube' | 'namespace'>,
  name: string,
  image: string,
  spec: Partial<Spec> = {},
  metadata: object = {},
) {
  return world.kube.create(VirtualMachine, {
    apiVersion: VirtualMachine.apiVersion,
    kind: VirtualMachine.kind,
    metadata: { name, namespace: world.namespace, ...metadata },
    spec: {
      resources: { cpu: '1', memory: '512Mi' },
      vmDiskImageRef: { name: image, namespace: world.namespace },
      ...spec,
    },
  });
}

/** Creates machine `vm` on an image of its own, which is made from the template. */
export async function createVm(world: World, spec: Partial<Spec> = {}): Promise<void> {
  await putImage(world, 'base');
  await createMachine(world, 'vm', 'base', { vmDiskImageTemplate: templateOf(world, 'base'), ...spec });
}

/** That machine, once it runs. */
export async function readyVm(world: World, spec: Partial<Spec> = {}): Promise<VirtualMachine> {
  await createVm(world, spec);
  return untilMachine(world, 'vm', 'Ready');
}

/** Creates a network as a NetworkAttachmentDefinition of multus. */
export const createNetwork = ({ kube, namespace }: Pick<World, 'kube' | 'namespace'>, name: string) =>
  kube.create(NetworkAttachmentDefinition, {
    metadata: { name, namespace },
    spec: { config: '{"cniVersion":"0.3.1","type":"bridge"}' },
  });

/** Resolves when the machine has that phase. */
export async function untilMachine(
  world: Pick<World, 'kube' | 'namespace'>,
  name: string,
  phase: string,
  withinMs?: number,
): Promise<VirtualMachine> {
  const isThere = (machine: VirtualMachine | undefined) => machine?.status?.phase === phase;
  return (await until(world, VirtualMachine, refIn(world, name), isThere, withinMs)) as VirtualMachine;
}

export const reasonOf = (machine: VirtualMachine | undefined, type: MachineCondition) =>
  conditionOf(machine?.status?.conditions, type)?.reason;

/** Resolves with the machine's condition of that type, as soon as it has that reason. */
export async function untilReason(
  world: Pick<World, 'kube' | 'namespace'>,
  name: string,
  type: MachineCondition,
  reason: string,
): Promise<Condition> {
  const isSo = (machine: VirtualMachine | undefined) => reasonOf(machine, type) === reason;
  const machine = await until(world, VirtualMachine, refIn(world, name), isSo);
  return conditionOf(machine?.status?.conditions, type) as Condition;
}

/** Resolves with the condition when the machine's ImageResolved has that reason. */
export const untilResolved = (world: Pick<World, 'kube' | 'namespace'>, name: string, reason: string) =>
  untilReason(world, name, 'ImageResolved', reason);

/** Deletes a machine and its image, which is in any namespace, and waits until the image is gone. */
export async function deleteWithImage(world: World, name: string, image: ObjectReference): Promise<void> {
  const { kube, namespace } = world;
  await kube.delete(VirtualMachine, { namespace, name });
  await kube.delete(VMDiskImage, image);
  await untilGone(world, VMDiskImage, image);
}
