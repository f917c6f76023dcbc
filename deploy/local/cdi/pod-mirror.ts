import type { ContainerStatus, Pod } from '../controller/kinds.ts';
import { type Annotations, annotation } from './annotation.ts';

export const scratchRequired = 'scratch space required and none found';

/** What an importer says when it ends with exit code 0. */
interface TerminationMessage {
  message?: string;
  scratchSpaceRequired?: boolean;
}

interface Mirrored {
  /** The annotations that tell of the pod, to be set on the claim it fills. */
  annotations: Annotations;
  /** The pod must be created again in another form, so its end says nothing about the import. */
  replace: boolean;
  /** The message of a container that has just failed. */
  failure: string | undefined;
}

/**
 * Reads an importer pod as CDI's import controller does: the container's state becomes the Running condition, its
 * restarts only ever rise, and a CrashLoopBackOff leaves the last words standing.
 */
export function mirrorPod(before: Annotations, pod: Pod): Mirrored {
  const status = pod.status?.containerStatuses[0];
  const termination = terminationOf(status);
  const replace = termination?.scratchSpaceRequired === true || isOldScratch(status) || isOutOfMemory(status);
  const annotations: Annotations = {
    [annotation.importPod]: pod.metadata.name,
    [annotation.podSchedulable]: isUnschedulable(pod) ? 'false' : 'true',
    ...(replace ? {} : { [annotation.podPhase]: pod.status?.phase ?? 'Pending' }),
    ...(status ? containerAnnotations(before, status, termination, pod.spec.containers[0]?.image ?? '') : {}),
    ...(isOutOfMemory(status) ? { [annotation.requiresDirectIo]: 'true' } : {}),
  };
  const terminated = status?.state?.terminated;
  const failure = terminated && terminated.exitCode > 0 ? terminated.message : undefined;
  return {
    annotations: termination?.message?.includes('checksum mismatch') ? fatal(annotations) : annotations,
    replace,
    failure,
  };
}

const fatal = (annotations: Annotations): Annotations => ({
  ...annotations,
  [annotation.podPhase]: 'Failed',
  [annotation.fatalError]: 'true',
  [annotation.running]: 'false',
  [annotation.runningReason]: 'ChecksumError',
});

function containerAnnotations(
  before: Annotations,
  status: ContainerStatus,
  termination: TerminationMessage | undefined,
  image: string,
): Annotations {
  const counted = isOldScratch(status) ? status.restartCount + 1 : status.restartCount;
  const restarts = { [annotation.podRestarts]: String(Math.max(counted, Number(before[annotation.podRestarts] ?? 0))) };
  const { state } = status;
  if (state?.running) return { ...restarts, ...running('true', 'Pod is running', '') };
  if (state?.waiting && pullFails.includes(state.waiting.reason))
    return { ...restarts, ...running('false', 'ImagePullFailed', `failed to pull image: ${image}`) };
  if (state?.waiting && state.waiting.reason !== 'CrashLoopBackOff')
    return { ...restarts, ...running('false', state.waiting.reason, simplify(state.waiting.message ?? '')) };
  if (!state?.terminated) return { ...restarts, [annotation.running]: 'false' };
  if (termination?.scratchSpaceRequired || isOldScratch(status)) {
    const reason = termination ? 'Scratch space required' : 'Error';
    return { ...restarts, [annotation.requiresScratch]: 'true', ...running('false', reason, scratchRequired) };
  }
  const message = termination ? (termination.message ?? '') : simplify(state.terminated.message ?? '');
  const reason = message.includes('failed to pull image') ? 'ImagePullFailed' : state.terminated.reason;
  return { ...restarts, ...running('false', reason, message) };
}

const pullFails = ['ErrImagePull', 'ImagePullBackOff'];

const running = (value: string, reason: string, message: string): Annotations => ({
  [annotation.running]: value,
  [annotation.runningReason]: reason,
  [annotation.runningMessage]: message,
});

function terminationOf(status: ContainerStatus | undefined): TerminationMessage | undefined {
  const terminated = status?.state?.terminated;
  if (terminated?.exitCode !== 0) return undefined;
  try {
    return JSON.parse(terminated.message ?? '') as TerminationMessage;
  } catch {
    return undefined;
  }
}

const isOldScratch = (status: ContainerStatus | undefined) => status?.state?.terminated?.exitCode === 42;

const isOutOfMemory = (status: ContainerStatus | undefined) => status?.state?.terminated?.reason === 'OOMKilled';

const isUnschedulable = (pod: Pod) =>
  (pod.status?.phase ?? 'Pending') === 'Pending' &&
  (pod.status?.conditions ?? []).some(({ type, reason }) => type === 'PodScheduled' && reason === 'Unschedulable');

const tooSmall = [
  'is larger than the reported available',
  'no space left on device',
  'file largest block is bigger than maxblock',
  'disk quota exceeded',
];

const simplify = (message: string) =>
  tooSmall.some((text) => message.includes(text)) ? 'DataVolume too small to contain image' : message;
