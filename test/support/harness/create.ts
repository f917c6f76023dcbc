import { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage, type VMDiskImageStatus } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import { aVMDiskImage } from '../builders/images.ts';
import { aVirtualMachine } from '../builders/machines.ts';

type Creator = Pick<Kube, 'create' | 'patch'>;

interface Created<Spec> {
  namespace?: string;
  /** Other metadata: labels, annotations, finalizers. */
  metadata?: object;
  spec?: { [K in keyof Spec]?: Spec[K] | undefined };
}

/** Creates an image as a user would; with a status if functions have seen it. */
export async function createImage(
  kube: Creator,
  name: string,
  {
    namespace = 'vmdi-farm',
    metadata,
    spec,
    status,
  }: Created<VMDiskImage['spec']> & { status?: VMDiskImageStatus } = {},
): Promise<VMDiskImage> {
  const made = { name, namespace, ...metadata };
  const image = await kube.create(VMDiskImage, { metadata: made, spec: { ...aVMDiskImage({ name }).spec, ...spec } });
  return status ? kube.patch(VMDiskImage, { name, namespace }, { status }, { subresource: 'status' }) : image;
}

/** Creates a machine on the image of that name. */
export const createMachine = (
  kube: Creator,
  name: string,
  image: string,
  { namespace = 'lab', metadata, spec }: Created<VirtualMachine['spec']> = {},
): Promise<VirtualMachine> =>
  kube.create(VirtualMachine, {
    metadata: { name, namespace, ...metadata },
    spec: { ...aVirtualMachine().spec, vmDiskImageRef: { name: image, namespace: 'vmdi-farm' }, ...spec },
  });
