import type { DataVolume } from '../../shared/resources/cdi/data-volume.ts';
import type { Pod } from '../../shared/resources/core/pod.ts';
import type { VMDiskImage } from '../../shared/resources/pelotech/vm-disk-image.ts';
import { conditionOf } from '../../shared/rules/conditions.ts';
import { sayDuration } from '../../shared/rules/duration.ts';
import type { AttemptFailure } from '../../shared/rules/failure-reasons.ts';
import type { Policy } from '../../shared/rules/policy.ts';

/** How an attempt ended badly. */
export interface Failure {
  reason: AttemptFailure;
  message: string;
  /** Another attempt would end the same way. */
  isFinal: boolean;
  /** It never started: nothing was downloaded, so it does not count against retryLimit. */
  isUncounted?: boolean;
}

export interface Attempt {
  nowMs: number;
  image: VMDiskImage;
  policy: Policy;
  dataVolume: DataVolume | undefined;
  /** The importer Pods of the attempt. */
  pods: readonly Pod[];
}

type Check = (attempt: Attempt) => Failure | undefined;

/**
 * The first sign that the attempt has failed, or undefined. CDI starts a failed import again for ever and from byte 0,
 * and hardly ever says Failed: the condition Running, restartCount and the importer Pod tell (containerized-data-importer,
 * pkg/controller/datavolume/conditions.go).
 */
export function failureOf(attempt: Attempt): Failure | undefined {
  for (const check of checks) {
    const failure = check(attempt);
    if (failure) return failure;
  }
  return undefined;
}

const isGone: Check = ({ dataVolume, image }) =>
  dataVolume || image.status?.dataVolume === undefined
    ? undefined
    : again('DataVolumeGone', `The DataVolume ${image.status.dataVolume} was deleted by somebody.`);

const isFailed: Check = ({ dataVolume }) => {
  if (dataVolume?.status?.phase !== 'Failed') return undefined;
  const running = conditionOf(dataVolume?.status?.conditions, 'Running');
  if (running?.reason === 'ChecksumError')
    return final('ChecksumMismatch', running.message || 'The checksum does not match.');
  const bound = conditionOf(dataVolume?.status?.conditions, 'Bound');
  return again('DataVolumeFailed', bound?.message || running?.message || 'CDI gave the DataVolume up.');
};

const hasError: Check = ({ dataVolume }) => {
  const running = conditionOf(dataVolume?.status?.conditions, 'Running');
  if (running?.status !== 'False' || !errorReasons.has(running.reason) || isScratch(running.message)) return undefined;
  return judge(running.reason, running.message);
};

const hasFailedPod: Check = ({ pods }) => {
  const failed = pods.find(({ status }) => status?.phase === 'Failed');
  if (!failed) return undefined;
  const { reason, message } = failed.status ?? {};
  return again(
    'ImporterEvicted',
    `The importer failed: ${[reason, message].filter(Boolean).join(': ') || 'no reason given'}.`,
  );
};

const hasRestarted: Check = ({ dataVolume, pods }) => {
  if (dataVolume?.status?.phase === 'Succeeded') return undefined;
  const restarted = pods.find((pod) =>
    containers(pod).some((container) => container.restartCount > 0 && !wantedScratch(container)),
  );
  // restartCount keeps the highest value seen, and before CDI 1.59 the round for scratch space left a 1 there: it counts
  // only for an importer that neither asks for scratch space nor has it.
  const direct = pods.some((pod) => !hasScratch(pod) && !containers(pod).some(wantedScratch));
  const counts = (dataVolume?.status?.restartCount ?? 0) > 0 && direct && !asksForScratch(dataVolume);
  if (!restarted && !counts) return undefined;
  const last = restarted && containers(restarted).find(({ lastState }) => lastState?.terminated?.message)?.lastState;
  return last?.terminated
    ? judge('Error', last.terminated.message)
    : again('ImporterRestarted', 'The importer started again from the first byte.');
};

const isReplaced: Check = ({ image, pods, dataVolume }) => {
  const seen = image.status?.importer;
  if (!seen || dataVolume?.status?.phase === 'Succeeded') return undefined;
  // CDI itself clears away a Pod that has Succeeded or asked for scratch space, before or after the DataVolume says so.
  const working = pods.filter((pod) => pod.status?.phase !== 'Succeeded' && !containers(pod).some(wantedScratch));
  const leaves = working.find(({ metadata }) => metadata.uid === seen.uid && metadata.deletionTimestamp);
  const other = working.find((pod) => pod.metadata.uid !== seen.uid && (seen.scratch || !hasScratch(pod)));
  if (!other && !(leaves && (seen.scratch || !asksForScratch(dataVolume)))) return undefined;
  return again(
    'ImporterReplaced',
    'The importer Pod was deleted by somebody; another would download from the first byte.',
  );
};

const hasNotStarted: Check = ({ nowMs, image, policy, dataVolume }) => {
  const isStarted =
    image.status?.importer ||
    dataVolume?.status?.phase === 'Succeeded' ||
    conditionOf(dataVolume?.status?.conditions, 'Running')?.status === 'True';
  if (isStarted || elapsed(nowMs, image) < policy.values.startTimeout) return undefined;
  const [bound, running] = [
    conditionOf(dataVolume?.status?.conditions, 'Bound'),
    conditionOf(dataVolume?.status?.conditions, 'Running'),
  ];
  const found = [running, bound]
    .map((condition) => [condition?.reason, condition?.message].filter(Boolean).join(': '))
    .find(Boolean);
  const message = `No download within startTimeout (${sayDuration(policy.values.startTimeout)}); CDI says: ${found ?? 'nothing'}.`;
  return { reason: 'NotStarted', message, isFinal: false, isUncounted: true };
};

const takesTooLong: Check = ({ nowMs, image, policy }) =>
  elapsed(nowMs, image) < policy.values.syncTimeout
    ? undefined
    : again('SyncTimeout', `Not done within syncTimeout (${sayDuration(policy.values.syncTimeout)}).`);

const checks: readonly Check[] = [
  isGone,
  isFailed,
  hasError,
  hasFailedPod,
  hasRestarted,
  isReplaced,
  hasNotStarted,
  takesTooLong,
];

const errorReasons = new Set(['Error', 'ImagePullFailed', 'OOMKilled']);

/** CDI's words for what no second attempt can mend; matched as whole tokens, since request ids hold digits too. */
const finals: readonly (readonly [RegExp, AttemptFailure])[] = [
  [/\b(NoSuchKey|NoSuchBucket)\b|status code: 404\b|got 404\b/, 'NotFound'],
  [/\b(AccessDenied|InvalidAccessKeyId|SignatureDoesNotMatch)\b|status code: 40[13]\b|got 40[13]\b/, 'AccessDenied'],
  [/\btoo small to contain image\b|larger than the reported available storage/, 'DiskTooSmall'],
];

function judge(reason: string, message: string): Failure {
  const found = finals.find(([pattern]) => pattern.test(message));
  if (found) return final(found[1], message);
  // CDI says ImagePullFailed of a transfer that was cut, too; then the message tells of the data.
  const isPull = reason === 'ImagePullFailed' && !/^Unable to process data/.test(message);
  return again(isPull ? 'ImagePullFailed' : 'ImportFailed', message || `CDI says ${reason}.`);
}

const final = (reason: AttemptFailure, message: string): Failure => ({ reason, message, isFinal: true });
const again = (reason: AttemptFailure, message: string): Failure => ({ reason, message, isFinal: false });

const elapsed = (nowMs: number, { status }: VMDiskImage) => nowMs - Date.parse(status?.startedAt ?? '');

const isScratch = (message: string) => /scratch space required/i.test(message);
const asksForScratch = (dataVolume: DataVolume | undefined) =>
  isScratch(conditionOf(dataVolume?.status?.conditions, 'Running')?.message ?? '');

type Container = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];
const containers = (pod: Pod): readonly Container[] => pod.status?.containerStatuses ?? [];
const wantedScratch = ({ state, lastState }: Container) =>
  [state, lastState].some((one) => one?.terminated?.exitCode === 42 || isScratch(one?.terminated?.message ?? ''));

/** The Pod works with a scratch claim: CDI made it anew for a format that has to be converted. */
export const hasScratch = (pod: Pod) =>
  (pod.spec?.volumes ?? []).some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName.endsWith('-scratch'));
