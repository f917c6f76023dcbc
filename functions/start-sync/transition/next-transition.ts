import { backoffMs } from '../../../shared/backoff.ts';
import { adopteeOf } from '../../../shared/images/adoption.ts';
import { dataVolumeName } from '../../../shared/images/children.ts';
import { contentStatus } from '../../../shared/images/content-digest.ts';
import { hasFinishedVolume } from '../../../shared/images/current-volume.ts';
import { isSourceChanged, sourceFaultOf, sourceFaults } from '../../../shared/images/inspection.ts';
import { isSnapshotAsked } from '../../../shared/images/snapshot-asked.ts';
import type { Transition } from '../../../shared/images/status.ts';
import { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import {
  isOfAnotherVersion,
  type VMDiskImage,
  type VMDiskImageStatus,
} from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { formatRefusal, refusalKey } from '../../../shared/kubernetes/refusal.ts';
import { isValid, type Policy } from '../../../shared/policy.ts';
import type { Reason } from '../../../shared/reasons/reason.ts';
import type { Observed } from '../observed.ts';
import { lastPlace } from '../queue/new-images.ts';
import { notQueued, placeOfNew } from '../queue/place.ts';
import { describeQueued } from '../queue/waiting.ts';
import { areRead, inputReasons, lacksInput } from './inputs.ts';
import { refusalOf } from './refusal.ts';
import { newestAttempt, newRevision } from './revision.ts';

type NextTransition = Omit<Transition, 'nowMs'>;
type Check<Input = Observed> = (image: VMDiskImage, input: Input) => NextTransition | undefined;

/** Reasons of a Failed image that heal once their cause is removed, which nothing in the image shows. */
const healingReasons = [
  'SourceNotAllowed',
  ...inputReasons,
  'StorageClassMissing',
  'SnapshotClassMissing',
  'DriverMismatch',
  'Forbidden',
  'Rejected',
] as const;

/**
 * The transition of start-sync that an image takes now, if any; the first that applies. The place is written with one into the queue, and
 * removed with one out of it.
 */
export function nextTransition(image: VMDiskImage, input: Observed): NextTransition | undefined {
  if (image.metadata.deletionTimestamp || isOfAnotherVersion(image)) return undefined;
  const next =
    queueNew(image, input) ??
    queueRevision(image, input) ??
    failRefused(image, input) ??
    failQueued(image, input) ??
    retryDue(image, input) ??
    retryHealed(image, input);
  const { place, startsAbout } = image.status ?? {};
  if (next?.to === 'Queued')
    return { ...next, fields: { ...next.fields, place: placeOfNew(image, input), startsAbout: null } };
  return next && (place || startsAbout) ? { ...next, fields: { ...next.fields, ...notQueued } } : next;
}

const queueNew: Check = (image, input) => {
  if (image.status?.phase) return undefined;
  const made = newestAttempt(image, input);
  const adopt = adopteeOf(image);
  if (adopt) return adopting(image, adopt, made.attempt > 0 ? made.revision + 1 : made.revision);
  return queued(describeQueued(image, input), '', {
    revision: made.revision,
    sharedFrom: null,
    ...contentStatus(image),
    queuedAt: input.places.get(image.metadata.uid) ?? image.metadata.creationTimestamp,
    attempt: made.attempt,
    attempts: made.attempt,
  });
};

const queueRevision: Check = (image, input) => {
  const { nowMs, dataVolumes } = input;
  const wanted = newRevision(image);
  if (!wanted) return undefined;
  const revision = (image.status?.revision ?? 1) + 1;
  if (wanted.adopt) return adopting(image, wanted.adopt, revision);
  // A finished download waits for its snapshot, which follow-sync takes.
  if (isSnapshotAsked(image, dataVolumes)) return undefined;
  const wait = describeQueued(image, input);
  return queued({ ...wait, reason: wait.reason === 'Queued' ? 'NewRevision' : wait.reason }, wanted.why, {
    revision,
    sharedFrom: null,
    // A snapshot is adopted once while the annotation names it. After its removal it may be named again.
    ...(adopteeOf(image) ? {} : { adoption: null }),
    ...contentStatus(image),
    queuedAt: lastPlace(nowMs),
    attempt: 0,
    attempts: 0,
  });
};

const failRefused: Check = (image, { refusals }) => {
  const { phase, revision = 1, attempt = 0, attempts = 1 } = image.status ?? {};
  const name = dataVolumeName(image.metadata, revision, attempt);
  const { namespace } = image.metadata;
  const refusal = phase === 'Syncing' ? refusals.get(refusalKey(DataVolume, { namespace, name })) : undefined;
  if (refusal === undefined) return undefined;
  const reason = refusal.reason === 'Forbidden' ? 'Forbidden' : 'Rejected';
  // Nothing was downloaded: it does not count against retryLimit.
  const fields = { attempts: Math.max(0, attempts - 1) };
  return { to: 'Failed', reason, message: `The DataVolume was refused: ${formatRefusal(refusal)}`, fields };
};

/** A queued image that cannot start, as far as its classes and inputs are known. */
export const failQueued: Check<Pick<Observed, 'policy' | 'classes' | 'inputs'>> = (image, input) => {
  if (image.status?.phase !== 'Queued') return undefined;
  const refusal = refusalOf(image, input);
  if (refusal) return { to: 'Failed', ...refusal };
  return failFaultySource(image, input) ?? failSpent(image, input);
};

/** Its inspection found what no download can mend: it gets no slot, and no attempt is counted. */
const failFaultySource: Check<Pick<Observed, 'policy'>> = (image, { policy }) => {
  if (policy.values.inspectTimeout === 0) return undefined;
  const fault = sourceFaultOf(image);
  return fault && { to: 'Failed', ...fault };
};

const failSpent: Check<Pick<Observed, 'policy'>> = (image, { policy }) => {
  const { attempts = 0 } = image.status ?? {};
  if (!isValid(policy, 'retryLimit') || attempts <= policy.values.retryLimit) return undefined;
  return {
    to: 'Failed',
    reason: 'AttemptsSpent',
    message: `Expected at most ${policy.values.retryLimit + 1} attempts by the policy's retryLimit, found ${attempts}.`,
  };
};

const retryDue: Check = (image, input) => {
  const { nowMs, policy } = input;
  if (image.status?.phase !== 'Retrying' || dueAtMs(image.status, policy) > nowMs) return undefined;
  if (!isValid(policy, 'retryLimit', 'retryBackoffDuration', 'maxRetryBackoffDuration')) return undefined;
  return queued(describeQueued(image, input), 'The pause after the failure is over.', { queuedAt: lastPlace(nowMs) });
};

/** When a failed image is due again. If a user removed that from the status, a back-off after the last change of phase. */
function dueAtMs({ nextAttemptAt, attempt = 1, history = [] }: VMDiskImageStatus, { values }: Policy): number {
  if (nextAttemptAt) return Date.parse(nextAttemptAt);
  const waitMs = backoffMs(attempt, values.retryBackoffDuration, values.maxRetryBackoffDuration);
  return Date.parse(history.at(-1)?.time ?? '') + waitMs;
}

/** It has Failed for what may end. A finished download waits for its snapshot, which follow-sync takes. */
export const mayHeal = (image: VMDiskImage) => {
  const { status } = image;
  if (status?.phase !== 'Failed' || status.snapshottingAt !== undefined) return false;
  const reason = conditionOf(status.conditions, 'Ready')?.reason;
  // An attempt may fail for the same reasons, and costs a download.
  if (sourceFaults.some((fault) => fault === reason))
    return sourceFaultOf(image)?.reason === reason && isSourceChanged(image);
  return healingReasons.some((healing) => healing === reason);
};

const retryHealed: Check = (image, input) => {
  if (!mayHeal(image) || hasFinishedVolume(image, input.dataVolumes)) return undefined;
  const reason = conditionOf(image.status?.conditions, 'Ready')?.reason;
  // No event reports that a quota, a permission or a name became available.
  if ((reason === 'Forbidden' || reason === 'Rejected') && !input.isAudit) return undefined;
  if (lacksInput(image) && !areRead(image, input.inputs)) return undefined;
  if (!input.classes || !isValid(input.policy, 'allowedSources') || refusalOf(image, input)) return undefined;
  return queued(describeQueued(image, input), 'The cause of the failure was removed.', {
    queuedAt: lastPlace(input.nowMs),
  });
};

const queued = (
  { reason, message }: { reason: Reason; message: string },
  why: string,
  fields: NonNullable<Transition['fields']>,
): NextTransition => ({
  to: 'Queued',
  reason,
  message: `${why} ${message}`,
  fields: { ...nothingYet, ...fields },
});

/** Waits for an existing snapshot: without queue, slot and attempt. */
const adopting = (image: VMDiskImage, snapshot: string, revision: number): NextTransition => ({
  to: 'Snapshotting',
  reason: 'Adopting',
  message: `Waiting for VolumeSnapshot ${snapshot}, to adopt it; nothing is downloaded.`,
  fields: {
    ...nothingYet,
    revision,
    adoption: { snapshot, revision },
    sharedFrom: null,
    ...contentStatus(image),
    queuedAt: null,
    attempt: 0,
    attempts: 0,
  },
});

const nothingYet = {
  nextAttemptAt: null,
  startedAt: null,
  snapshottingAt: null,
  completedAt: null,
  progress: null,
  progressAt: null,
  dataVolume: null,
  importer: null,
} as const;
