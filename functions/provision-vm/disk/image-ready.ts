import { whyNotNamed, whyNotTrusted } from '../../../shared/images/new-image.ts';
import { isHeldBy } from '../../../shared/images/references.ts';
import { reasonOfWait, troubleOf } from '../../../shared/images/stopped.ts';
import type { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { nameOf } from '../../../shared/kinds/resource.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { isNotSo, isSo } from '../../../shared/kubernetes/status.ts';
import type { Policy } from '../../../shared/policy.ts';
import { repeated } from '../../../shared/reasons/reason.ts';
import { final, type NewMachineCondition, type Obstacle, waits } from '../observed.ts';

/** Whether a disk can be cloned for the machine: its image, or what is in the way. */
export type ImageReadiness = { image: VMDiskImage; snapshot: string } | { obstacle: Obstacle };

interface Input {
  machine: VirtualMachine;
  image: VMDiskImage | undefined;
  policy: Policy;
}

/** Asks policy and image, in this order: what may not be used is not even looked at. */
export function imageReadiness({ machine, image, policy }: Input): ImageReadiness {
  const called = nameOf(VMDiskImage, machine.spec.vmDiskImageRef);
  const forbidden = forbiddenBy(machine, policy);
  if (forbidden) return { obstacle: forbidden };
  if (!image) return { obstacle: missing(machine, called) };
  const asker = { namespace: machine.metadata.namespace, template: machine.spec.vmDiskImageTemplate };
  const distrust = whyNotTrusted(policy, image, asker);
  if (distrust) return { obstacle: final(distrust.reason, distrust.message) };
  const { phase, message = '', snapshot, conditions } = image.status ?? {};
  if (image.metadata.deletionTimestamp && !isHeldBy(image, machine)) {
    return { obstacle: waits('ImageTerminating', `Waiting until ${called}, which is being deleted, is gone.`) };
  }
  if (snapshot && conditionOf(conditions, 'Ready')?.status === 'True') return { image, snapshot: snapshot.name };
  if (phase === 'Failed') {
    return {
      obstacle: final('ImageFailed', `Expected ${called} to become ready, found it Failed: ${message}`),
    };
  }
  if (phase === 'Succeeded') {
    return { obstacle: waits('ImageNotUsable', `Waiting for ${called}: it has no usable snapshot.`) };
  }
  const trouble = troubleOf(image);
  const why = `${phase ?? 'Queued'}${trouble ? `: ${trouble}` : '.'}`;
  return { obstacle: waits(reasonOfWait(phase ?? 'Queued'), `Waiting for ${called}: ${why}`) };
}

export const imageCondition = (readiness: ImageReadiness): NewMachineCondition =>
  'obstacle' in readiness
    ? isNotSo('ImageReady', readiness.obstacle.reason, readiness.obstacle.message)
    : isSo('ImageReady', 'ImageReady', `Snapshot ${readiness.snapshot} is usable.`);

/** Why the machine may not name its image; undefined if it may. */
export function forbiddenBy({ metadata, spec }: VirtualMachine, policy: Policy): Obstacle | undefined {
  const why = whyNotNamed(policy, metadata.namespace, spec.vmDiskImageRef);
  if (!why) return undefined;
  if (why.reason === 'InvalidPolicy') {
    return waits(why.reason, "Waiting until the policy's imageNamespaces parses again.");
  }
  return final(why.reason, why.message);
}

/** With the cause that ensure-vmdi reported, if any: it alone knows why it makes no image. */
function missing({ metadata, spec, status }: VirtualMachine, called: string): Obstacle {
  const resolved = conditionOf(status?.conditions, 'ImageResolved');
  const isOfThisSpec =
    resolved?.observedGeneration === undefined || resolved.observedGeneration === metadata.generation;
  if (resolved?.status === 'False' && isOfThisSpec && resolved.reason !== 'ImageMissing') {
    return (goBySelf.has(resolved.reason) ? waits : final)(repeated(resolved.reason), resolved.message);
  }
  if (spec.mode === 'FailIfNotExist') {
    return final(
      'ImageMissing',
      `${called} does not exist, and mode is FailIfNotExist. Create it, or set mode CreateIfNotExist.`,
    );
  }
  return spec.vmDiskImageTemplate
    ? waits('ImageMissing', `Waiting for ${called}, which is made from the template.`)
    : waits(
        'ImageMissing',
        `Waiting for ${called}: it does not exist. Create it, or add a vmDiskImageTemplate to the machine. If its name is misspelt, create the machine again with the right vmDiskImageRef.`,
      );
}

/** Reasons of ImageResolved that need no change of the machine or its image. */
const goBySelf = new Set(['ImageTerminating', 'InvalidPolicy']);
