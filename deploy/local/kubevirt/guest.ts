import type { KubevirtContext } from './context.ts';
import type { Probe, VirtualMachineInstance } from './kinds.ts';

/** Whether the guest of an instance has an agent. */
export function hasAgent({ faults, guestAgent }: KubevirtContext, { metadata }: VirtualMachineInstance): boolean {
  const rule = faults.inject(metadata.uid, metadata.name, 'agent', 'noAgent');
  return rule ? rule.mode === 'agent' : guestAgent;
}

/** What the probes of a launcher find, and when that may be otherwise if nothing else happens. */
export interface Probed {
  isReady: boolean;
  isAlive: boolean;
  waitMs?: number;
}

interface Guest {
  /** How long it has been up; undefined of one that is not. */
  upMs: number | undefined;
  hasAgent: boolean;
  /** When it begins to answer, after it is up. */
  agentMs: number;
  /** From when to when it hangs, after it is up. */
  hangs: { fromMs: number; toMs: number } | undefined;
  probeSecondMs: number;
}

/**
 * The probes of a guest as the kubelet runs them: unready until one succeeds, then until `failureThreshold` fail in a row; dead once that many fail
 * after `initialDelaySeconds` (kubernetes.io, "Pod lifecycle", Container probes). KubeVirt asks the agent with virt-probe (kubevirt,
 * pkg/virt-controller/services/template.go wrapGuestAgentPingWithVirtProbe) and leaves the rest to the kubelet.
 */
export function probed(
  { readinessProbe, livenessProbe }: { readinessProbe?: Probe | undefined; livenessProbe?: Probe | undefined },
  guest: Guest,
): Probed {
  const { upMs } = guest;
  if (upMs === undefined) return { isReady: readinessProbe === undefined, isAlive: true };
  const failsFor = (probe: Probe) => silentMs(probe, guest, upMs);
  const limitOf = ({ failureThreshold, periodSeconds }: Probe) =>
    failureThreshold * periodSeconds * guest.probeSecondMs;
  const unreadyMs = readinessProbe ? failsFor(readinessProbe) : 0;
  const isReady = !readinessProbe || (hasAnswered(readinessProbe, guest, upMs) && unreadyMs < limitOf(readinessProbe));
  const delayMs = (livenessProbe?.initialDelaySeconds ?? 0) * guest.probeSecondMs;
  const deadMs = livenessProbe ? Math.min(failsFor(livenessProbe), upMs - delayMs) : 0;
  const isAlive = !livenessProbe || deadMs < limitOf(livenessProbe);
  const { fromMs = 0, toMs = 0 } = guest.hangs ?? {};
  const times = [
    guest.agentMs,
    fromMs,
    toMs,
    ...[readinessProbe, livenessProbe].flatMap((probe) =>
      probe ? [fromMs + limitOf(probe), delayMs + limitOf(probe)] : [],
    ),
  ];
  const next = Math.min(...times.filter((ms) => ms > upMs && Number.isFinite(ms)));
  return { isReady, isAlive, ...(readinessProbe && Number.isFinite(next) ? { waitMs: next - upMs } : {}) };
}

/** For how long a guest has not answered. */
function silentMs({ guestAgentPing }: Probe, { hasAgent, agentMs, hangs }: Guest, upMs: number): number {
  if ((guestAgentPing && !hasAgent) || upMs < agentMs) return upMs;
  return hangs && upMs >= hangs.fromMs && upMs < hangs.toMs ? upMs - hangs.fromMs : 0;
}

/** A guest that hangs from its start never has. */
const hasAnswered = ({ guestAgentPing }: Probe, { hasAgent, agentMs, hangs }: Guest, upMs: number): boolean =>
  !(guestAgentPing && !hasAgent) &&
  upMs >= agentMs &&
  (hangs === undefined || hangs.fromMs > agentMs || upMs >= hangs.toMs);
