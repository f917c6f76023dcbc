import type { KubevirtContext } from './context.ts';
import type { Probe, VirtualMachineInstance } from './kinds.ts';

export function hasAgent({ faults, guestAgent }: KubevirtContext, { metadata }: VirtualMachineInstance): boolean {
  const rule = faults.inject(metadata.uid, metadata.name, 'agent', 'noAgent');
  return rule ? rule.mode === 'agent' : guestAgent;
}

/** The guest of an instance with this annotation hangs: it answers no probe, and its agent stays connected. Each value is another time. */
export const hangs = 'ot-simulated/hangs';

/** What the probes of a launcher find, and when that may be otherwise if nothing else happens. */
export interface Probed {
  isReady: boolean;
  isAlive: boolean;
  waitMs?: number;
}

interface Guest {
  /** How long it has been up, and how long it has hung since. */
  upMs: number;
  hungMs: number | undefined;
  hasAgent: boolean;
  /** When it begins to answer, after it is up. */
  agentMs: number;
  /** Whether its readiness probe found it ready before. */
  wasReady: boolean;
  /** What a second is in the times of probes. */
  secondMs: number;
}

interface Probes {
  readinessProbe?: Probe | undefined;
  livenessProbe?: Probe | undefined;
}

/**
 * The probes of a guest that is up, as the kubelet runs them: unready until one succeeds, then until `failureThreshold` fail in a row; dead once that
 * many fail after `initialDelaySeconds` (kubernetes.io, "Pod lifecycle", Container probes). KubeVirt asks the agent with virt-probe (kubevirt,
 * pkg/virt-controller/services/template.go wrapGuestAgentPingWithVirtProbe) and leaves the rest to the kubelet.
 */
export function probed({ readinessProbe, livenessProbe }: Probes, guest: Guest): Probed {
  const { upMs, agentMs, wasReady, secondMs } = guest;
  const limitOf = ({ failureThreshold, periodSeconds }: Probe) => failureThreshold * periodSeconds * secondMs;
  const readyMs = readinessProbe ? silentMs(readinessProbe, guest) : 0;
  const unreadyInMs = readinessProbe ? limitOf(readinessProbe) - readyMs : 0;
  const deadInMs = livenessProbe
    ? limitOf(livenessProbe) -
      Math.min(silentMs(livenessProbe, guest), upMs - livenessProbe.initialDelaySeconds * secondMs)
    : Number.POSITIVE_INFINITY;
  const isReady = readyMs === 0 || (wasReady && unreadyInMs > 0);
  const times = [agentMs - upMs, ...(readyMs > 0 && isReady ? [unreadyInMs] : []), deadInMs];
  const waitMs = Math.min(...times.filter((ms) => ms > 0 && Number.isFinite(ms)));
  return { isReady, isAlive: deadInMs > 0, ...(Number.isFinite(waitMs) ? { waitMs } : {}) };
}

/** For how long a guest has not answered. */
function silentMs({ guestAgentPing }: Probe, { hasAgent, agentMs, hungMs, upMs }: Guest): number {
  return (guestAgentPing && !hasAgent) || upMs < agentMs
    ? Math.max(upMs, 1)
    : hungMs === undefined
      ? 0
      : Math.max(hungMs, 1);
}
