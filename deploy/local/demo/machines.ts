import type { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import { type DemoImage, specOf, type Where } from './images.ts';

/** One machine of the second act. */
export interface DemoMachine {
  name: string;
  /** The image it names. */
  image: string;
  /** What it would make that image from if it is missing. */
  template?: DemoImage;
  diskSize?: string;
  expected: {
    /** Its image is not there when it is applied. */
    waits: boolean;
    /** Fields of its template that the image contradicts. */
    contradicted: readonly string[];
    /** It is deleted before the end, one after the other in this order. */
    isDeleted: boolean;
  };
}

/** Where the machines live: elsewhere than their images. */
export const machineNamespace = 'lab';

/** The image that is deleted while machines hold it. */
export const heldImage = 'debian-12';

const plain = { waits: false, contradicted: [], isDeleted: false } as const;

/** The machines in the order in which they are applied; of the images `late` has no VMDiskImage yet. */
export function demoMachines(images: readonly DemoImage[], late: DemoImage): DemoMachine[] {
  const template = (name: string) => images.find((image) => image.name === name) ?? late;
  return [
    { name: 'web-1', image: late.name, template: late, expected: { ...plain, waits: true } },
    { name: 'web-2', image: late.name, template: late, expected: { ...plain, waits: true } },
    {
      name: 'odd-1',
      image: 'ubuntu-24.04',
      template: template('rocky-9'),
      diskSize: '4Gi',
      expected: { ...plain, contradicted: ['url', 'diskSize'] },
    },
    { name: 'db-1', image: heldImage, expected: { ...plain, isDeleted: true } },
    { name: 'db-2', image: heldImage, expected: { ...plain, isDeleted: true } },
  ];
}

/** The manifest a user would write for it. */
export const machineManifest = ({ name, image, template, diskSize }: DemoMachine, where: Where) =>
  ({
    apiVersion: 'pelotech.ot/v1alpha1',
    kind: 'VirtualMachine',
    metadata: { name, namespace: machineNamespace },
    spec: {
      resources: { cpu: '1', memory: '1Gi' },
      vmDiskImageRef: { name: image, namespace: where.namespace },
      ...(template ? { vmDiskImageTemplate: { ...specOf(template, where), ...(diskSize ? { diskSize } : {}) } } : {}),
    } satisfies VirtualMachine['spec'],
  }) as unknown as KubernetesObject;
