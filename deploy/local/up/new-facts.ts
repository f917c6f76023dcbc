import type { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf } from '../../../shared/kinds/resource.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import type { Fact } from './cluster-view.ts';
import { heldMessage } from './held-message.ts';

/** What an image's history says that it did not say before; a history keeps the last ten, so the older ones may be gone. */
export function newFacts(before: VMDiskImage | undefined, image: VMDiskImage): Fact[] {
  const known = (before?.metadata.uid === image.metadata.uid && before.status?.history) || [];
  const history = image.status?.history ?? [];
  // The number of entries both have: the longest end of what was known that what is known now begins with.
  const shared = overlap(known.map(textOf), history.map(textOf));
  return history.slice(shared).map(({ time, fact, message }) => {
    const isEmpty = fact === 'Succeeded' && image.spec.sourceType === 'registry';
    return { time, fact, message: isEmpty ? `${message} ${noRegistry}` : message, about: keyOf(image.metadata) };
  });
}

const noRegistry = 'Its disk is empty: the local cluster downloads nothing from a registry.';

const textOf = (entry: object) => JSON.stringify(entry);

function overlap(before: readonly string[], after: readonly string[]): number {
  for (let length = Math.min(before.length, after.length); length > 0; length--) {
    if (before.slice(-length).every((text, index) => text === after[index])) return length;
  }
  return 0;
}

/** That an image is gone, which its history can no longer say. */
export const goneFact = (image: VMDiskImage, nowMs: number): Fact => ({
  time: new Date(nowMs).toISOString(),
  fact: 'Deleted',
  message: 'The image and all that was made for it are gone.',
  about: keyOf(image.metadata),
});

/** That an image which is being deleted is held, and by whom; its history says nothing of that. */
export function heldFacts(before: VMDiskImage | undefined, image: VMDiskImage, nowMs: number): Fact[] {
  const message = heldMessage(image);
  if (message === undefined || (before && heldMessage(before) === message)) return [];
  return [{ time: new Date(nowMs).toISOString(), fact: 'Terminating', message, about: keyOf(image.metadata) }];
}

/** What a machine says of itself that it did not say before: another phase, or another reason for it. */
export function machineFacts(before: VirtualMachine | undefined, machine: VirtualMachine, nowMs: number): Fact[] {
  const { phase, message = '' } = machine.status ?? {};
  const ready = conditionOf(machine.status?.conditions, 'Ready');
  const known = before?.metadata.uid === machine.metadata.uid ? before : undefined;
  const reasonBefore = conditionOf(known?.status?.conditions, 'Ready')?.reason;
  if (!phase || (known?.status?.phase === phase && reasonBefore === ready?.reason)) return [];
  // Of a machine that was there before anybody watched it only its condition knows since when.
  const time = (known ? undefined : ready?.lastTransitionTime) ?? new Date(nowMs).toISOString();
  return [{ time, fact: phase, message, about: keyOf(machine.metadata) }];
}

export const machineGoneFact = (machine: VirtualMachine, nowMs: number): Fact => ({
  time: new Date(nowMs).toISOString(),
  fact: 'Deleted',
  message: 'The machine is gone; what was made for it goes with it.',
  about: keyOf(machine.metadata),
});
