import { type Claim, Pod } from '../controller/kinds.ts';
import type { Step } from '../controller/step.ts';
import { deletionOf, eventsFrom, statusOf, type Write, withoutFinalizer } from '../controller/write.ts';
import { choiceOfNode, isBound } from '../workloads/scheduling.ts';
import type { Probed } from './guest.ts';
import { isTemporary, launcherFinalizer } from './launcher-pod.ts';
import {
  ended,
  isDown,
  isReady,
  isScheduled,
  isUnheard,
  running,
  unheard,
  unschedulable,
  waiting,
  waitingReason,
} from './launcher-status.ts';
import type { KubevirtTimings } from './settings.ts';

export interface ObservedLauncher {
  pod: Pod;
  /** The existing claims that it mounts, and whether all of them exist. */
  claims: Claim[];
  hasAllClaims: boolean;
  /** Those of them whose class waits until a node is chosen. */
  lateClaims: Claim[];
  /** A Secret it mounts that is not there. */
  missingSecret: string | undefined;
  /** `namespace/name` of a network of the launcher that does not exist. */
  missingNetwork: string | undefined;
  isGuestUp: boolean;
  /** What its probes find. */
  probed: Probed;
  /** How long no node takes it. */
  unschedulableMs: number;
  pullFails: boolean;
  /** It ends before its guest is up. */
  crashes: boolean;
  /** How long its guest has been up, and how long it stays up before it powers itself off, or its node is lost. */
  upMs: number;
  shutdownAfterMs: number | undefined;
  lostAfterMs: number | undefined;
  /** How long it has been asked to go, and how long it takes it; undefined for ever. */
  deletedMs: number;
  graceMs: number | undefined;
  /** How long it has been in the state it is in. */
  stateMs: number;
  timings: KubevirtTimings;
  nowMs: number;
}

const done: Step = { writes: [] };

const after = (waitMs: number, writes: () => Write[]): Step =>
  waitMs > 0 ? { writes: [], waitMs } : { writes: writes() };

const say = (pod: Pod, status: object): Write[] => [statusOf(Pod, pod, status)];

/** The next step of scheduler, kubelet and virt-launcher for one Pod: a node, its container, its guest's end, its own. */
export function nextForLauncher(observed: ObservedLauncher): Step {
  const { pod } = observed;
  if (pod.metadata.deletionTimestamp) return terminate(observed);
  if (isDown(pod)) return done;
  if (!isScheduled(pod)) return schedule(observed);
  if (pod.status?.phase === 'Running') return keep(observed);
  return start(observed);
}

function terminate({ pod, deletedMs, graceMs }: ObservedLauncher): Step {
  if (!pod.metadata.finalizers?.includes(launcherFinalizer) || graceMs === undefined) return done;
  const isAlive = pod.status?.phase === 'Running';
  return after(isAlive ? graceMs - deletedMs : 0, () => [withoutFinalizer(Pod, pod, launcherFinalizer)]);
}

function schedule(observed: ObservedLauncher): Step {
  const { pod, claims, hasAllClaims, lateClaims, missingNetwork, unschedulableMs, stateMs, timings, nowMs } = observed;
  if (unschedulableMs > 0) {
    const isSaid = (pod.status?.conditions.length ?? 0) > 0;
    return { writes: isSaid ? [] : say(pod, unschedulable(nowMs)), waitMs: unschedulableMs };
  }
  if (!hasAllClaims) return done;
  if (stateMs < timings.scheduleMs) return { writes: [], waitMs: timings.scheduleMs - stateMs };
  const choice = choiceOfNode(lateClaims);
  if (choice.length > 0) return { writes: choice };
  // The temporary launcher serves only the choice of a node.
  const isHeld = !isTemporary(pod) && !claims.every(isBound);
  if (isHeld) return done;
  const creating = say(pod, waiting(pod, 'ContainerCreating', undefined, nowMs));
  return { writes: missingNetwork === undefined ? creating : [...creating, noSandbox(pod, missingNetwork)] };
}

/** The only report of a network that does not exist: the message of Multus, in an Event of the kubelet. */
function noSandbox(pod: Pod, missing: string): Write {
  const [namespace, network] = missing.split('/');
  const message = `Failed to create pod sandbox: plugin type="multus-shim" name="multus-cni-network" failed (add): cannot find a network-attachment-definition (${network}) in namespace (${namespace})`;
  return eventsFrom('kubelet')(pod, 'Warning', 'FailedCreatePodSandBox', message);
}

const image = ({ spec }: Pod) => spec.containers[0]?.image ?? '';

function start({
  pod,
  missingSecret,
  missingNetwork,
  pullFails,
  crashes,
  probed,
  stateMs,
  timings,
  nowMs,
}: ObservedLauncher): Step {
  const reason = waitingReason(pod)?.reason;
  if (missingSecret !== undefined || missingNetwork !== undefined) return { writes: [], waitMs: timings.pollMs };
  if (reason === 'ErrImagePull') {
    const message = `Back-off pulling image "${image(pod)}"`;
    return after(timings.pollMs - stateMs, () => say(pod, waiting(pod, 'ImagePullBackOff', message, nowMs)));
  }
  const dueMs = (reason === 'ImagePullBackOff' ? timings.pollMs : timings.containerMs) - stateMs;
  if (pullFails) {
    const message = `rpc error: code = Unknown desc = failed to pull and unpack image "${image(pod)}": unexpected status code 503`;
    return after(dueMs, () => say(pod, waiting(pod, 'ErrImagePull', message, nowMs)));
  }
  return after(dueMs, () => say(pod, crashes ? ended(pod, 1, nowMs) : running(pod, probed.isReady, nowMs)));
}

function keep({
  pod,
  isGuestUp,
  probed,
  upMs,
  shutdownAfterMs,
  lostAfterMs,
  stateMs,
  timings,
  nowMs,
}: ObservedLauncher): Step {
  if (isUnheard(pod)) {
    // What takes a Pod off a node that does not come back.
    return after(timings.nodeLostMs * 2 - stateMs, () => [deletionOf(Pod, pod)]);
  }
  if (!isGuestUp) return done;
  if (!probed.isAlive) return { writes: say(pod, ended(pod, killed, nowMs)) };
  if (probed.isReady !== isReady(pod)) return { writes: say(pod, running(pod, probed.isReady, nowMs)) };
  if (lostAfterMs !== undefined) return after(lostAfterMs - upMs, () => say(pod, unheard(pod, nowMs)));
  if (shutdownAfterMs !== undefined) return after(shutdownAfterMs - upMs, () => say(pod, ended(pod, 0, nowMs)));
  return { writes: [], waitMs: probed.waitMs };
}

/** The exit code of a container that the kubelet killed, for its liveness probe. */
const killed = 137;
