import { holdersOf, leaseRef } from '../../../shared/images/slots.ts';
import { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { Lease } from '../../../shared/kinds/coordination/lease.ts';
import { PersistentVolumeClaim } from '../../../shared/kinds/core/persistent-volume-claim.ts';
import { Pod } from '../../../shared/kinds/core/pod.ts';
import { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Resource } from '../../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import { createImage, until, untilGone, untilPhase } from '../../stories/world.ts';
import type { SetUp } from './set-up.ts';

const name = 'one';

/** An image from its creation until its snapshot is ready and everything at rest. */
export async function makeImage(parts: SetUp): Promise<VMDiskImage> {
  await createImage(parts, name);
  await untilPhase(parts, name, 'Succeeded');
  await untilNone(parts, DataVolume, PersistentVolumeClaim, Pod);
  await untilSlotsAreFree(parts);
  await untilSilent(parts);
  return untilPhase(parts, name, 'Succeeded');
}

/** The same image from its deletion until none of its objects is left. */
export async function removeImage(parts: SetUp): Promise<void> {
  const ref = { namespace: parts.namespace, name };
  await parts.kube.delete(VMDiskImage, ref);
  await untilGone(parts, VMDiskImage, ref);
  await untilNone(parts, DataVolume, PersistentVolumeClaim, Pod, VolumeSnapshot);
  await untilSlotsAreFree(parts);
  await untilSilent(parts);
}

/** Resolves when no object of these kinds is left in the journey's namespace. */
async function untilNone(parts: SetUp, ...kinds: readonly Resource[]): Promise<void> {
  for (const kind of kinds) {
    const left = await parts.kube.list(kind, { namespace: parts.namespace });
    for (const { metadata } of left) await untilGone(parts, kind, metadata);
  }
}

async function untilSlotsAreFree(parts: SetUp): Promise<void> {
  await until(parts, Lease, leaseRef, (lease) => holdersOf(lease)?.length === 0);
}

const mostRounds = 20;

/** Resolves after two sweeps and two audits in a row without a write of a function (L1). */
async function untilSilent({ proxy, beside }: SetUp): Promise<void> {
  for (let round = 0; round < mostRounds; round++) {
    const before = proxy.points().length;
    await beside.tick();
    await beside.tick();
    if (proxy.points().length === before) return;
  }
  throw new Error(`L1: still writing after ${2 * mostRounds} sweeps, at last ${proxy.points().slice(-5).join(', ')}`);
}
