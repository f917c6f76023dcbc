import { setTimeout as sleep } from 'node:timers/promises';
import { holdersOf, leaseRef } from '../../../shared/images/slots.ts';
import { Lease } from '../../../shared/kinds/coordination/lease.ts';
import { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf } from '../../../shared/kinds/resource.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';

export interface Rest {
  kube: Kube;
  /** The number of changes so far. */
  changes(): number;
  /** The time in which nothing may change. */
  quietMs: number;
  withinMs: number;
  say(line: string): void;
  signal: AbortSignal;
}

const lookEveryMs = 5000;

/** Resolves with nothing when everything is finished and unchanged for a while, or at the limit with what is not at rest. */
export async function untilAtRest({ kube, changes, quietMs, withinMs, say, signal }: Rest): Promise<string[]> {
  const overMs = Date.now() + withinMs;
  let seen = changes();
  let quietSinceMs = Date.now();
  for (;;) {
    await sleep(lookEveryMs, undefined, { signal });
    const now = changes();
    if (now !== seen) quietSinceMs = Date.now();
    seen = now;
    const quiet = Date.now() - quietSinceMs;
    const left = await unrested(kube);
    if (left.length === 0 && quiet >= quietMs) return [];
    if (Date.now() > overMs)
      return [...left, ...(quiet < quietMs ? [`changes until ${Math.round(quiet / 1000)} s ago`] : [])];
    const first = left[0] ? ` (${left[0]})` : '';
    say(`coming to rest: ${left.length} not yet${first}, nothing changed for ${Math.round(quiet / 1000)} s`);
  }
}

/** The unfinished objects. */
async function unrested(kube: Kube): Promise<string[]> {
  const [images, machines, lease] = await Promise.all([
    kube.list(VMDiskImage),
    kube.list(VirtualMachine),
    kube.get(Lease, leaseRef),
  ]);
  const ready = new Set(images.filter(isReady).map(({ metadata }) => keyOf(metadata)));
  return [
    ...images.filter((image) => !isImageAtRest(image, Date.now())).map(formatObject),
    ...machines.filter((machine) => !isMachineAtRest(machine, ready)).map(formatObject),
    ...(holdersOf(lease) ?? []).map(({ image }) => `a slot of ${image}`),
  ];
}

const isReady = ({ status, metadata }: VMDiskImage) =>
  status?.phase === 'Succeeded' && metadata.deletionTimestamp === undefined;

/** A failed image may wait for its next attempt, a deleted one for the machines that use it. */
export function isImageAtRest({ status, metadata }: VMDiskImage, nowMs: number): boolean {
  const { phase, nextAttemptAt, conditions } = status ?? {};
  if (metadata.deletionTimestamp) return conditionOf(conditions, 'DeletionHeld')?.status === 'True';
  return phase === 'Retrying' ? Date.parse(nextAttemptAt ?? '') > nowMs : phase === 'Succeeded' || phase === 'Failed';
}

/** A machine whose image is not ready waits for it. */
const isMachineAtRest = ({ status, spec, metadata }: VirtualMachine, ready: ReadonlySet<string>) =>
  metadata.deletionTimestamp === undefined && (status?.phase === 'Ready' || !ready.has(keyOf(spec.vmDiskImageRef)));

const formatObject = ({ kind, metadata, status }: VMDiskImage | VirtualMachine) =>
  `${kind} ${keyOf(metadata)}: ${metadata.deletionTimestamp ? 'being deleted, ' : ''}${status?.phase ?? 'no phase'}`;
