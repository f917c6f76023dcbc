import {
  imageReferenceFinalizer,
  VirtualMachine,
  type VirtualMachineStatus,
} from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { at } from './images.ts';

export interface MachineOptions {
  name?: string;
  namespace?: string;
  uid?: string;
  createdAfterSeconds?: number;
  resourceVersion?: string;
  generation?: number;
  annotations?: Record<string, string>;
  finalizers?: string[];
  deleted?: boolean;
  spec?: Partial<VirtualMachine['spec']>;
  status?: VirtualMachineStatus;
}

/** A machine as the API server shows it, on image vmdi-farm/ubuntu; only what the test is about need be said. */
export function aVirtualMachine(options: MachineOptions = {}): VirtualMachine {
  const { name = 'demo', namespace = 'lab', uid = `uid-${name}`, createdAfterSeconds = 0 } = options;
  return VirtualMachine.parse({
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion: options.resourceVersion ?? '10',
      generation: options.generation ?? 1,
      creationTimestamp: at(createdAfterSeconds).replace('.000Z', 'Z'),
      ...(options.annotations ? { annotations: options.annotations } : {}),
      finalizers: options.finalizers ?? [imageReferenceFinalizer],
      ...(options.deleted ? { deletionTimestamp: at(0) } : {}),
    },
    spec: {
      resources: { cpu: '2', memory: '2Gi' },
      vmDiskImageRef: { name: 'ubuntu', namespace: 'vmdi-farm' },
      ...options.spec,
    },
    ...(options.status ? { status: options.status } : {}),
  });
}
