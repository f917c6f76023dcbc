import type { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import type { Policy } from '../../../shared/policy.ts';
import { type ImageReadiness, imageCondition, imageReadiness } from './image-ready.ts';
import { isOfUsable } from './root-disk.ts';

export interface Waiting {
  machine: VirtualMachine;
  image: VMDiskImage | undefined;
}

/** The machine's condition of its image is outdated, or its disk is still to be made. */
export function isStale({ machine, image }: Waiting, policy: Policy): boolean {
  if (machine.metadata.deletionTimestamp) return false;
  const readiness = imageReadiness({ machine, image, policy });
  if (machine.status?.rootDisk) return isDiskToMake(machine, readiness);
  const wanted = imageCondition(readiness);
  const found = conditionOf(machine.status?.conditions, wanted.type);
  return found?.reason !== wanted.reason || found.message !== wanted.message;
}

/** The disk was never cloned, and would be made of another snapshot now. */
function isDiskToMake({ status }: VirtualMachine, readiness: ImageReadiness): boolean {
  if ('obstacle' in readiness) return false;
  const { reason = '' } = conditionOf(status?.conditions, 'DiskReady') ?? {};
  return reason === 'ImageNotReady' || (uncloned.has(reason) && !isOfUsable(status?.rootDisk, readiness.image));
}

const uncloned = new Set(['Cloning', 'CloneWithoutSource', 'CloneFailed']);

/** Machines in this order: the oldest first, then those that had a fault at the last look, then those with a disk. */
export const orderOf = ({ machine: { metadata, status } }: Waiting): string =>
  [
    status?.rootDisk ? 2 : status?.phase === 'Failed' ? 1 : 0,
    metadata.creationTimestamp,
    metadata.namespace,
    metadata.name,
  ].join(' ');
