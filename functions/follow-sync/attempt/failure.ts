import type { AttemptFailure } from '../../../shared/images/failure-reasons.ts';
import type { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import type { Pod } from '../../../shared/kinds/core/pod.ts';
import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import type { Policy } from '../../../shared/policy.ts';
import { oneLine } from '../../../shared/sentence.ts';
import { limitPassed } from '../time-limit.ts';

/** How an attempt ended badly. */
export interface Failure {
  reason: AttemptFailure;
  message: string;
  /** Another attempt would end the same way. */
  isFinal: boolean;
  /** It never started: nothing was downloaded, so it does not count against retryLimit. */
  isUncounted?: boolean;
}

interface Attempt {
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
  return checks
    .values()
    .map((check) => check(attempt))
    .find((failure) => failure !== undefined);
}

const isGone: Check = ({ dataVolume, image }) =>
  dataVolume || image.status?.dataVolume === undefined
    ? undefined
    : again('DataVolumeGone', `The DataVolume ${image.status.dataVolume} was deleted by a user or another controller.`);

const isFailed: Check = ({ dataVolume }) => {
  if (dataVolume?.status?.phase !== 'Failed') return undefined;
  const running = conditionOf(dataVolume?.status?.conditions, 'Running');
  if (running?.reason === 'ChecksumError')
    return final('ChecksumMismatch', running.message || 'The checksum does not match.');
  const bound = conditionOf(dataVolume?.status?.conditions, 'Bound');
  return again('DataVolumeFailed', bound?.message || running?.message || 'CDI gave the DataVolume up.');
};

const hasError: Check = ({ dataVolume, pods }) => {
  const error = errorOf(dataVolume);
  if (!error || isLog(error.message) || isOwnImage(error.reason, dataVolume, pods)) return undefined;
  return judge(error.reason, error.message);
};

/** An importer that is being deleted fails because of the deletion. */
const hasFailedPod: Check = ({ pods }) => {
  const failed = pods.find(
    ({ status, metadata }) => status?.phase === 'Failed' && (status.reason || !metadata.deletionTimestamp),
  );
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
  if (!last?.terminated) return again('ImporterRestarted', 'The importer started again from the first byte.');
  return isLog(last.terminated.message) ? died(last.terminated) : judge('Error', last.terminated.message);
};

const isReplaced: Check = ({ image, pods, dataVolume }) => {
  const seen = image.status?.importer;
  if (!seen || dataVolume?.status?.phase === 'Succeeded') return undefined;
  // CDI deletes the Pod of an importer that is done, found a wrong checksum or asks for scratch space. It does so within milliseconds
  // of exit code 0, before the phase of the Pod or the DataVolume reports it.
  const working = pods.filter((pod) => pod.status?.phase !== 'Succeeded' && !containers(pod).some(isDone));
  const leaves = working.find(({ metadata }) => metadata.uid === seen.uid && metadata.deletionTimestamp);
  const other = working.find((pod) => pod.metadata.uid !== seen.uid && (seen.scratch || !hasScratch(pod)));
  return other || (leaves && (seen.scratch || !asksForScratch(dataVolume))) ? replaced() : undefined;
};

/** CDI does not delete an importer that died. If it is missing or being deleted, a user deleted it. */
const hasDied: Check = ({ dataVolume, pods }) => {
  const error = errorOf(dataVolume);
  if (!error || !isLog(error.message)) return undefined;
  const left = pods.filter(({ metadata }) => !metadata.deletionTimestamp);
  const end = left.flatMap(containers).map(failedEnd).find(Boolean);
  return end ? died(end) : replaced();
};

const hasNotStarted: Check = (attempt) => {
  const { image, dataVolume } = attempt;
  const [bound, running] = [
    conditionOf(dataVolume?.status?.conditions, 'Bound'),
    conditionOf(dataVolume?.status?.conditions, 'Running'),
  ];
  const isWaiting = waitsForScratch(attempt);
  const isStarted =
    (image.status?.importer && !isWaiting) || dataVolume?.status?.phase === 'Succeeded' || running?.status === 'True';
  const limit = limitPassed(attempt, 'startTimeout', waitingSince(attempt));
  if (isStarted || !limit) return undefined;
  const found = (isWaiting && running?.message && isScratch(running.message) ? [bound, running] : [running, bound])
    .map((condition) => [condition?.reason, condition?.message].filter(Boolean).join(': '))
    .find(Boolean);
  const what = isWaiting ? 'scratch space' : 'download';
  const message = `No ${what} within ${limit}; CDI says: ${found ?? 'nothing'}.${describeCertificates(attempt)}`;
  return { reason: 'NotStarted', message, isFinal: false, isUncounted: true };
};

const takesTooLong: Check = (attempt) => {
  const limit = limitPassed(attempt, 'syncTimeout', startedMs(attempt));
  return limit ? again('SyncTimeout', `Not done within ${limit}.`) : undefined;
};

const checks: readonly Check[] = [
  isGone,
  isFailed,
  hasError,
  hasFailedPod,
  hasRestarted,
  isReplaced,
  hasDied,
  hasNotStarted,
  takesTooLong,
];

const errorReasons = new Set(['Error', 'ImagePullFailed', 'OOMKilled']);

/** What CDI says of an importer that ended with an error; it mirrors the importer's last words. */
function errorOf(dataVolume: DataVolume | undefined) {
  const running = conditionOf(dataVolume?.status?.conditions, 'Running');
  const isError = running?.status === 'False' && errorReasons.has(running.reason) && !isScratch(running.message);
  return isError ? running : undefined;
}

/** CDI's words for what no second attempt can mend; matched as whole tokens, since request ids hold digits too. */
const finals: readonly (readonly [RegExp, AttemptFailure])[] = [
  [/\b(NoSuchKey|NoSuchBucket)\b|status code: 404\b|got 404\b/, 'NotFound'],
  [/\b(AccessDenied|InvalidAccessKeyId|SignatureDoesNotMatch)\b|status code: 40[13]\b|got 40[13]\b/, 'AccessDenied'],
  [/\btoo small to contain image\b|larger than the reported available storage/, 'DiskTooSmall'],
  // An object that is empty or shorter than every header.
  [/\bcould not process image header: (unexpected )?EOF$/, 'ImportFailed'],
];

function judge(reason: string, words: string): Failure {
  const message = oneLine(words);
  const found = finals.find(([pattern]) => pattern.test(message));
  if (found) return final(found[1], message);
  // CDI also reports ImagePullFailed for an interrupted transfer; then the message is about the data.
  const isPull = reason === 'ImagePullFailed' && !/^Unable to process data/.test(message);
  return again(isPull ? 'ImagePullFailed' : 'ImportFailed', message || `CDI says ${reason}.`);
}

const final = (reason: AttemptFailure, message: string): Failure => ({ reason, message, isFinal: true });
const again = (reason: AttemptFailure, message: string): Failure => ({ reason, message, isFinal: false });
const replaced = () =>
  again('ImporterReplaced', 'The importer Pod was deleted; a new one would download from the first byte.');

/** If an importer wrote no termination message, the kubelet reports the end of its log instead. */
const isLog = (message: string) => logLine.test(message);
const logLine = /^[IWEF]\d{4} \d{2}:\d{2}:\d{2}\.\d+ +\d+ [^\]]+\] /m;

/** A log decides nothing. The message includes its last line, unless that only reports progress. */
function died({ exitCode, reason, message }: Terminated): Failure {
  const last = message.trimEnd().split('\n').at(-1) ?? '';
  const cause = /^I\d{4} /.test(last) ? '' : `: ${last.replace(logLine, '').trim()}`;
  const code = [...(reason === 'Error' || !reason ? [] : [reason]), `exit code ${exitCode}`].join(', ');
  return again('ImportFailed', `The importer ${exitCode === 137 ? 'was killed' : 'died'} (${code})${cause}.`);
}

/** The kubelet cannot pull the image of the importer and retries. No importer has failed, unlike after an interrupted transfer. */
const isOwnImage = (reason: string, dataVolume: DataVolume | undefined, pods: readonly Pod[]) =>
  reason === 'ImagePullFailed' &&
  (pods.length > 0
    ? !pods.flatMap(containers).some(failedEnd)
    : dataVolume?.status?.phase === 'ImportScheduled' || dataVolume?.status?.phase === 'Pending');

/** An importer has asked for scratch space, and none has used it yet: so far only the format was read. */
export function waitsForScratch({ image, dataVolume, pods }: Pick<Attempt, 'image' | 'dataVolume' | 'pods'>): boolean {
  const second = pods.filter(hasScratch);
  if (image.status?.importer?.scratch || second.some(hasBegun)) return false;
  return second.length > 0 || asksForScratch(dataVolume) || pods.flatMap(containers).some(wantedScratch);
}

/** The start of the wait for an importer or its scratch space. CDI's condition Running is False since the importer asked. */
export function waitingSince(attempt: Pick<Attempt, 'image' | 'dataVolume' | 'pods'>): number {
  const running = conditionOf(attempt.dataVolume?.status?.conditions, 'Running');
  const asked = waitsForScratch(attempt) ? Date.parse(running?.lastTransitionTime ?? '') : Number.NaN;
  const started = startedMs(attempt);
  return started >= asked || Number.isNaN(asked) ? started : asked;
}

/** CDI never reports a missing ConfigMap with certificates: only an Event of the Pod does. */
export const describeCertificates = ({
  image: { metadata, spec },
  dataVolume,
}: Pick<Attempt, 'image' | 'dataVolume'>) =>
  spec.certConfigMap && conditionOf(dataVolume?.status?.conditions, 'Running')?.reason === 'ContainerCreating'
    ? ` The importer needs ConfigMap ${metadata.namespace}/${spec.certConfigMap} (certConfigMap): check that it exists.`
    : '';

/** A user may have removed startedAt. Without a DataVolume the attempt is at least as old as the last change of phase. */
const startedMs = ({ image: { status, metadata }, dataVolume }: Pick<Attempt, 'image' | 'dataVolume'>) =>
  Date.parse(
    status?.startedAt ??
      dataVolume?.metadata.creationTimestamp ??
      status?.history?.at(-1)?.time ??
      metadata.creationTimestamp,
  );

/** The request in the message of the DataVolume, and of importers before CDI 1.59. Later importers end with exit code 0. */
export const isScratch = (message: string) => /scratch space required/i.test(message);
const asksForScratch = (dataVolume: DataVolume | undefined) =>
  isScratch(conditionOf(dataVolume?.status?.conditions, 'Running')?.message ?? '');

type Container = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];
type Terminated = NonNullable<NonNullable<Container['state']>['terminated']>;
const containers = (pod: Pod): readonly Container[] => pod.status?.containerStatuses ?? [];
const ends = ({ state, lastState }: Container) => [state, lastState].map((one) => one?.terminated);
const wantedScratch = (container: Container) =>
  ends(container).some((end) => end?.exitCode === 42 || isScratch(end?.message ?? ''));
const isDone = (container: Container) => container.state?.terminated?.exitCode === 0 || wantedScratch(container);
const failedEnd = (container: Container) => ends(container).find((end) => end && end.exitCode !== 0);
const hasBegun = (pod: Pod) =>
  pod.status?.phase !== 'Pending' || containers(pod).some(({ state }) => state?.running ?? state?.terminated);

/** The Pod uses a scratch claim: CDI recreated it for a format that must be converted. */
export const hasScratch = (pod: Pod) =>
  (pod.spec?.volumes ?? []).some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName.endsWith('-scratch'));
