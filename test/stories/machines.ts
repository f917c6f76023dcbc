import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { type Condition, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { ObjectReference } from '../../shared/kinds/resource.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { until, untilGone, type World } from './world.ts';

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

/** Resolves when the machine has that phase. */
export async function untilMachine(
  world: Pick<World, 'kube' | 'namespace'>,
  name: string,
  phase: string,
  withinMs?: number,
): Promise<VirtualMachine> {
  const ref = { namespace: world.namespace, name };
  const isThere = (machine: VirtualMachine | undefined) => machine?.status?.phase === phase;
  return (await until(world, VirtualMachine, ref, isThere, withinMs)) as VirtualMachine;
}

/** Resolves with the condition when the machine's ImageResolved has that reason. */
export async function untilResolved(
  world: Pick<World, 'kube' | 'namespace'>,
  name: string,
  reason: string,
): Promise<Condition> {
  const ref = { namespace: world.namespace, name };
  const resolvedOf = (machine: VirtualMachine | undefined) => conditionOf(machine?.status?.conditions, 'ImageResolved');
  const isSo = (machine: VirtualMachine | undefined) => resolvedOf(machine)?.reason === reason;
  return resolvedOf(await until(world, VirtualMachine, ref, isSo)) as Condition;
}

/** Deletes a machine and its image, which is in any namespace, and waits until the image is gone. */
export async function deleteWithImage(world: World, name: string, image: ObjectReference): Promise<void> {
  const { kube, namespace } = world;
  await kube.delete(VirtualMachine, { namespace, name });
  await kube.delete(VMDiskImage, image);
  await untilGone(world, VMDiskImage, image);
}
