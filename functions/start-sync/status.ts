import type { Action } from '../../shared/actions.ts';
import { egressIn } from '../../shared/images/egress.ts';
import type { Transition } from '../../shared/images/status.ts';
import { patchStatus } from '../../shared/images/status.ts';
import { stopOf } from '../../shared/images/stopped.ts';
import { isOfAnotherVersion, phases, type VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { conditionOf, withProgress } from '../../shared/kubernetes/conditions.ts';
import { recordEvent } from '../../shared/kubernetes/events.ts';
import { digestOf } from '../../shared/kubernetes/names.ts';
import { toTime } from '../../shared/kubernetes/time.ts';
import { describeFault } from '../../shared/policy.ts';
import { strayEntries } from '../../shared/policy-entries.ts';
import { type Reason, repeated } from '../../shared/reasons/reason.ts';
import type { Observed } from './observed.ts';
import type { correctPlaces } from './queue/place.ts';
import { correctWait } from './queue/waiting.ts';

/** What is wrong in the status of images that take no transition, each in one write, those whose place is wrong in the order of the queue. */
export function corrections(
  observed: Observed,
  images: readonly VMDiskImage[],
  places: ReturnType<typeof correctPlaces>,
): Action[][] {
  const byQueue = new Map([...places.keys()].map((uid, index) => [uid, index]));
  const indexOf = ({ metadata }: VMDiskImage) => byQueue.get(metadata.uid) ?? 0;
  return images
    .toSorted((a, b) => indexOf(a) - indexOf(b))
    .map((image): Action[] => {
      const [wrong] = [...correctWait(image, observed), ...correctStalled(image, observed)];
      const fields = places.get(image.metadata.uid);
      if (!fields) return wrong ? [wrong] : [];
      const before = wrong?.do === 'patchStatus' ? wrong.status : {};
      return [patchStatus(image, { ...before, ...fields })];
    })
    .filter(({ length }) => length > 0);
}

/** Whether the image came to its end, or lost its snapshot, before releases said so in the condition Stalled. */
export const lacksStalled = ({ metadata, status }: VMDiskImage) => {
  const { phase, conditions } = status ?? {};
  const isLost = conditionOf(conditions, 'SnapshotLost')?.status === 'True';
  const isStalled = phase === 'Failed' || (phase === 'Succeeded' && isLost);
  return isStalled && !metadata.deletionTimestamp && !conditionOf(conditions, 'Stalled');
};

/** Says so with the words of Ready: only transitions write it otherwise. */
function correctStalled(image: VMDiskImage, { nowMs }: { nowMs: number }): Action[] {
  const { conditions = [], message = '' } = image.status ?? {};
  const ready = conditionOf(conditions, 'Ready');
  if (!ready || !lacksStalled(image)) return [];
  const cause = { reason: repeated(ready.reason), message, observedGeneration: image.metadata.generation };
  const status = { conditions: withProgress(conditions, 'Stalled', cause, toTime(nowMs)) };
  return [patchStatus(image, status)];
}

/** Reports once that another version of the functions wrote the phase. The image is not changed otherwise. */
export function unknownPhase(image: VMDiskImage): Action[] {
  if (!isOfAnotherVersion(image)) return [];
  const phase = image.status?.phase ?? '';
  const message = `Expected a phase of ${phases.join(', ')}, found ${JSON.stringify(phase)}: another version of the functions wrote it. The image is left as it is until that version, or a newer one, runs.`;
  return [recordEvent(image, true, 'UnknownPhase', message, phase)];
}

/** Reports once that a wiped or invalid status was rebuilt: everything in it but the attempts is lost. */
export function rebuiltStatus(image: VMDiskImage, { fields }: Pick<Transition, 'fields'>): Action[] {
  const { revision = 1, attempt = 0 } = fields ?? {};
  if (image.status?.phase || (!attempt && (revision ?? 1) === 1)) return [];
  const message = `The status was empty or not readable; rebuilt from DataVolumes and snapshots: revision ${revision}, ${attempt} attempts so far.`;
  return [recordEvent(image, true, 'StatusRebuilt', message, image.metadata.resourceVersion)];
}

/** The spec has changed since the status was written: kstatus takes the image for one that is under way. */
export const isUnacknowledged = (image: VMDiskImage) => {
  const { generation, deletionTimestamp } = image.metadata;
  const { observedGeneration = -1 } = image.status ?? {};
  return (
    observedGeneration >= 0 && observedGeneration !== generation && !deletionTimestamp && !isOfAnotherVersion(image)
  );
};

/** The change asks for nothing new, or it would be a transition. */
export function acknowledge(image: VMDiskImage): Action[] {
  if (!isUnacknowledged(image)) return [];
  const status = { observedGeneration: image.metadata.generation };
  return [patchStatus(image, status)];
}

/** One Event for each distinct fault, however often the policy is read or other keys are edited. */
export function policyFaults({ policy, policyMap, lease, nowMs, isAboutAll }: Observed): Action[] {
  if (!policyMap || !isAboutAll) return [];
  const warn = (reason: Reason, message: string, of: unknown) =>
    recordEvent(policyMap, true, reason, message, digestOf(of));
  const faults = `${policy.faults.map(describeFault).join('; ')}. Nothing that depends on it starts until it is fixed.`;
  const strays = strayEntries(policyMap).map(({ key }) => key);
  const unread = `No function reads ${strays.join(', ')}: the defaults hold. ot-functions policy lists the names of all keys.`;
  const stop = stopOf(policy, egressIn(lease), nowMs);
  return [
    ...(policy.faults.length > 0 ? [warn('InvalidPolicy', faults, policy.faults)] : []),
    ...(strays.length > 0 ? [warn('UnknownPolicyKey', unread, strays)] : []),
    ...(stop && stop.reason !== 'InvalidPolicy'
      ? [warn(stop.reason, `Nothing starts: ${stop.why}.`, [stop.key, policyMap.data?.[stop.key]])]
      : []),
  ];
}
