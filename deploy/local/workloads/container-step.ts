import { goDuration } from '../cdi/pod-status.ts';
import type { ContainerStatus } from '../controller/kinds.ts';
import type { Container } from './kinds.ts';
import { type Exit, running, terminated, waiting } from './pod-status.ts';
import type { WorkloadTimings } from './settings.ts';

/** One container, with what decides what becomes of it. */
export interface ObservedContainer {
  container: Container;
  before: ContainerStatus | undefined;
  /** How long it has been in the state it is in. */
  stateMs: number;
  restartPolicy: string;
  /** `name_namespace(uid)`, as the kubelet's messages call a Pod. */
  podInWords: string;
  /** What it reads its environment from and is not there: `secret "x" not found`. */
  configError: string | undefined;
  /** The pull that is due fails, with these words of the registry. */
  pullError: string | undefined;
  /** How it ends by itself, and after which time; undefined for what runs for ever. */
  exit: (Exit & { afterMs: number }) | undefined;
  /** It runs and is not ready, for so long more; Infinity for ever. */
  notReadyMs: number;
  timings: WorkloadTimings;
  nowMs: number;
}

/** What a container becomes now, or when there is more to do about it. */
interface ContainerStep {
  status?: ContainerStatus;
  /** The Event that the kubelet reports for it. */
  event?: { reason: string; message: string };
  waitMs?: number;
}

const longestBackOffMs = 300_000;

/** The next state of one container under a kubelet. */
export function nextForContainer(observed: ObservedContainer): ContainerStep {
  const { container, before, nowMs } = observed;
  const { state = {} } = before ?? {};
  if (!before) return { status: waiting(container, before, 'ContainerCreating') };
  if (state.terminated) return afterEnd(observed, before, state.terminated.exitCode);
  if (!state.running) return start(observed, before, state.waiting?.reason ?? '');
  const { exit, stateMs, notReadyMs } = observed;
  if (exit) {
    const restMs = exit.afterMs - stateMs;
    return restMs > 0 ? { waitMs: restMs } : { status: terminated(before, exit, nowMs) };
  }
  if (!before.ready && notReadyMs <= 0) return { status: { ...before, ready: true } };
  return notReadyMs > 0 && Number.isFinite(notReadyMs) ? { waitMs: notReadyMs } : {};
}

function start(observed: ObservedContainer, before: ContainerStatus, reason: string): ContainerStep {
  const { container, stateMs, timings, configError, pullError, notReadyMs, nowMs } = observed;
  const { image = '' } = container;
  if (reason === 'CrashLoopBackOff') {
    const restMs = backOffMs(before.restartCount) * timings.secondsScale - stateMs;
    if (restMs > 0) return { waitMs: restMs };
    return { status: running(container, before, nowMs, notReadyMs <= 0) };
  }
  const restMs = (reason === 'ContainerCreating' ? timings.containerMs : timings.pollMs) - stateMs;
  if (restMs > 0) return { waitMs: restMs };
  if (reason === 'ErrImagePull') {
    const said = before.state?.waiting?.message ?? '';
    const message = `Back-off pulling image "${image}": ErrImagePull: ${said}`;
    const event = { reason: 'BackOff', message: `Back-off pulling image "${image}"` };
    return { status: waiting(container, before, 'ImagePullBackOff', message), event };
  }
  if (pullError !== undefined) {
    const event = { reason: 'Failed', message: `Failed to pull image "${image}": ${pullError}` };
    return { status: waiting(container, before, 'ErrImagePull', pullError), event };
  }
  if (configError === undefined) return { status: running(container, before, nowMs, notReadyMs <= 0) };
  if (reason === 'CreateContainerConfigError') return { waitMs: timings.pollMs };
  const event = { reason: 'Failed', message: `Error: ${configError}` };
  return { status: waiting(container, before, 'CreateContainerConfigError', configError), event };
}

function afterEnd(observed: ObservedContainer, before: ContainerStatus, exitCode: number): ContainerStep {
  const { container, restartPolicy, stateMs, timings, podInWords, notReadyMs, nowMs } = observed;
  const isEnd = restartPolicy === 'Never' || (restartPolicy === 'OnFailure' && exitCode === 0);
  if (isEnd) return {};
  if (stateMs < timings.tickMs) return { waitMs: timings.tickMs - stateMs };
  // The first time it starts again at once.
  if (before.restartCount === 0) return { status: running(container, before, nowMs, notReadyMs <= 0) };
  const words = `back-off ${goDuration(backOffMs(before.restartCount))} restarting failed container=${container.name} pod=${podInWords}`;
  const event = {
    reason: 'BackOff',
    message: `Back-off restarting failed container ${container.name} in pod ${podInWords}`,
  };
  return { status: waiting(container, before, 'CrashLoopBackOff', words), event };
}

/** 10 s, doubled with each restart, at most five minutes. */
const backOffMs = (restartCount: number) => Math.min(10_000 * 2 ** (restartCount - 1), longestBackOffMs);
