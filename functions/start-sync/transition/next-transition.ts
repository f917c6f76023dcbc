import { backoffMs } from '../../../shared/backoff.ts';
import { adopteeOf } from '../../../shared/images/adoption.ts';
import { contentDigest, contentStatus } from '../../../shared/images/content-digest.ts';
import { hasFinishedVolume } from '../../../shared/images/current-volume.ts';
import { isSourceChanged, sourceFaultOf, sourceFaults } from '../../../shared/images/inspection.ts';
import { isSnapshotAsked } from '../../../shared/images/snapshot-asked.ts';
import { downloadOf, missingLine } from '../../../shared/images/sources.ts';
import type { Transition } from '../../../shared/images/status.ts';
import { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import type { Lease } from '../../../shared/kinds/coordination/lease.ts';
import {
  attemptLabel,
  contentAnnotation,
  imageUidLabel,
  isOfAnotherVersion,
  revisionLabel,
  type VMDiskImage,
  type VMDiskImageStatus,
} from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import type { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { dataVolumeName } from '../../../shared/kubernetes/names.ts';
import { formatRefusal, type Refusals, refusalKey } from '../../../shared/kubernetes/refusal.ts';
import { isValid, type Policy } from '../../../shared/policy.ts';
import type { Reason } from '../../../shared/reasons/reason.ts';
import { lastPlace } from '../queue/new-images.ts';
import { waitFor } from '../queue/waiting.ts';
import { areRead, type Inputs, inputReasons, lacksInput, missingInput } from './inputs.ts';
import { newRevision } from './revision.ts';

/** The existing classes; class name → driver. */
export interface Classes {
  storage: ReadonlyMap<string, string>;
  snapshot: ReadonlyMap<string, string>;
}

interface TransitionInput {
  nowMs: number;
  policy: Policy;
  lease: Lease | undefined;
  classes?: Classes | undefined;
  inputs: Inputs;
  dataVolumes: readonly DataVolume[];
  snapshots: readonly VolumeSnapshot[];
  refusals: Refusals;
  places: ReadonlyMap<string, string>;
  isAudit: boolean;
}

type NextTransition = Omit<Transition, 'nowMs'>;
type Check = (image: VMDiskImage, world: TransitionInput) => NextTransition | undefined;

/** Reasons of a Failed image that heal without a user once their cause is removed. */
const healingReasons = [
  'SourceNotAllowed',
  ...sourceFaults,
  ...inputReasons,
  'StorageClassMissing',
  'SnapshotClassMissing',
  'DriverMismatch',
  'Forbidden',
  'Rejected',
] as const;

/** The transition of start-sync that an image takes now, if any; the first check that applies wins. */
export function nextTransition(image: VMDiskImage, world: TransitionInput): NextTransition | undefined {
  if (image.metadata.deletionTimestamp || isOfAnotherVersion(image)) return undefined;
  for (const check of checks) {
    const found = check(image, world);
    if (found) return found;
  }
  return undefined;
}

const isNew: Check = (image, world) => {
  if (image.status?.phase) return undefined;
  const made = newestAttempt(image, world);
  const adopt = adopteeOf(image);
  if (adopt) return adopting(image, adopt, made.attempt > 0 ? made.revision + 1 : made.revision);
  return queued(waitFor(image, world), '', {
    revision: made.revision,
    sharedFrom: null,
    ...contentStatus(image),
    queuedAt: world.places.get(image.metadata.uid) ?? image.metadata.creationTimestamp,
    attempt: made.attempt,
    attempts: made.attempt,
  });
};

const isOtherContent: Check = (image, world) => {
  const { nowMs, dataVolumes } = world;
  const wanted = newRevision(image);
  if (!wanted) return undefined;
  const revision = (image.status?.revision ?? 1) + 1;
  if (wanted.adopt) return adopting(image, wanted.adopt, revision);
  // A finished download waits for its snapshot, which follow-sync takes.
  if (isSnapshotAsked(image, dataVolumes)) return undefined;
  const wait = waitFor(image, world);
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

const isRefusedByApiServer: Check = (image, { refusals }) => {
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

const isNotAllowed: Check = (image, world) => {
  if (image.status?.phase !== 'Queued') return undefined;
  const refusal = refusalOf(image, world);
  return refusal && { to: 'Failed', ...refusal };
};

/** Its inspection found what no download can mend: it gets no slot, and no attempt is counted. */
const hasFaultySource: Check = (image, { policy }) => {
  if (image.status?.phase !== 'Queued' || policy.values.inspectTimeout === 0) return undefined;
  const fault = sourceFaultOf(image);
  return fault && { to: 'Failed', ...fault };
};

const hasSpentItsAttempts: Check = (image, { policy }) => {
  const { phase, attempts = 0 } = image.status ?? {};
  if (phase !== 'Queued' || !isValid(policy, 'retryLimit') || attempts <= policy.values.retryLimit) return undefined;
  return {
    to: 'Failed',
    reason: 'AttemptsSpent',
    message: `Expected at most ${policy.values.retryLimit + 1} attempts by the policy's retryLimit, found ${attempts}.`,
  };
};

const isDue: Check = (image, world) => {
  const { nowMs, policy } = world;
  if (image.status?.phase !== 'Retrying' || dueAtMs(image.status, policy) > nowMs) return undefined;
  if (!isValid(policy, 'retryLimit', 'retryBackoffDuration', 'maxRetryBackoffDuration')) return undefined;
  return queued(waitFor(image, world), 'The pause after the failure is over.', { queuedAt: lastPlace(nowMs) });
};

/** When a failed image is due again. If a user removed that from the status, a back-off after the last change of phase. */
function dueAtMs({ nextAttemptAt, attempt = 1, history = [] }: VMDiskImageStatus, { values }: Policy): number {
  if (nextAttemptAt) return Date.parse(nextAttemptAt);
  const waitMs = backoffMs(attempt, values.retryBackoffDuration, values.maxRetryBackoffDuration);
  return Date.parse(history.at(-1)?.time ?? '') + waitMs;
}

const isHealed: Check = (image, world) => {
  const reason = conditionOf(image.status?.conditions, 'Ready')?.reason;
  if (image.status?.phase !== 'Failed' || !healingReasons.some((healing) => healing === reason)) return undefined;
  // A finished download waits for its snapshot, which follow-sync takes.
  if (image.status.snapshottingAt !== undefined || hasFinishedVolume(image, world.dataVolumes)) return undefined;
  // No event reports that a quota, a permission or a name became available.
  if ((reason === 'Forbidden' || reason === 'Rejected') && !world.isAudit) return undefined;
  if (lacksInput(image) && !areRead(image, world.inputs)) return undefined;
  // An attempt may fail for the same reasons, and costs a download.
  const isOfSource = sourceFaults.some((fault) => fault === reason);
  if (isOfSource && (sourceFaultOf(image)?.reason !== reason || !isSourceChanged(image))) return undefined;
  if (!world.classes || !isValid(world.policy, 'allowedSources') || refusalOf(image, world)) return undefined;
  return queued(waitFor(image, world), 'The cause of the failure was removed.', {
    queuedAt: lastPlace(world.nowMs),
  });
};

const checks: readonly Check[] = [
  isNew,
  isOtherContent,
  isRefusedByApiServer,
  isNotAllowed,
  hasFaultySource,
  hasSpentItsAttempts,
  isDue,
  isHealed,
];

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

function refusalOf(
  image: VMDiskImage,
  { policy, classes, inputs }: TransitionInput,
): { reason: Reason; message: string } | undefined {
  if (isValid(policy, 'allowedSources')) {
    const missing = missingLine(policy, downloadOf(image));
    if (missing) return { reason: 'SourceNotAllowed', message: `Source not allowed: ${missing.message}.` };
  }
  if (!classes) return undefined;
  const { spec } = image;
  const provisioner = classes.storage.get(spec.storageClass);
  const driver = classes.snapshot.get(spec.snapshotClass);
  if (provisioner === undefined)
    return missing('StorageClassMissing', 'StorageClass', spec.storageClass, classes.storage);
  if (driver === undefined) {
    return missing('SnapshotClassMissing', 'VolumeSnapshotClass', spec.snapshotClass, classes.snapshot);
  }
  if (provisioner === driver) return missingInput(image, inputs);
  return {
    reason: 'DriverMismatch',
    message: `Expected one driver for volume and snapshot, found ${provisioner} in StorageClass ${spec.storageClass} and ${driver} in VolumeSnapshotClass ${spec.snapshotClass}.`,
  };
}

const missing = (reason: Reason, kind: string, name: string, found: ReadonlyMap<string, string>) => ({
  reason,
  message: `Expected a ${kind} ${name}, found only ${[...found.keys()].sort().join(', ') || 'none'}. Name another in the spec, or create it.`,
});

/**
 * Restores attempt and revision of a wiped or invalid status from the existing objects, so that no attempt is lost and no revision
 * used twice. A revision is over if it has a snapshot, which would be mistaken for that of a further download, or if its download is of
 * another content than the spec asks for now.
 */
function newestAttempt(image: VMDiskImage, { dataVolumes, snapshots }: TransitionInput) {
  const own = <T extends KubernetesObject>(objects: readonly T[]) =>
    objects.filter(({ metadata }) => metadata.labels?.[imageUidLabel] === image.metadata.uid);
  const [newest = { revision: 1, attempt: 0, content: undefined }] = own(dataVolumes)
    .map(({ metadata: { labels = {}, annotations } }) => ({
      revision: Number(labels[revisionLabel]) || 1,
      attempt: Number(labels[attemptLabel]) || 0,
      content: annotations?.[contentAnnotation],
    }))
    .sort((a, b) => b.revision - a.revision || b.attempt - a.attempt);
  const over = Math.max(0, ...own(snapshots).map(({ metadata }) => Number(metadata.labels?.[revisionLabel]) || 0));
  if (over >= newest.revision) return { revision: over + 1, attempt: 0 };
  const isOther = newest.content !== undefined && newest.content !== contentDigest(image);
  return isOther ? { revision: newest.revision + 1, attempt: 0 } : newest;
}
