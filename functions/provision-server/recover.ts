import type { Action } from '../../shared/actions.ts';
import { backoffMs } from '../../shared/backoff.ts';
import type { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import { deleteServer, type Server } from '../../shared/kinds/openstack/server.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { formatDuration } from '../../shared/kubernetes/duration.ts';
import { isNotSo } from '../../shared/kubernetes/status.ts';
import { toTime } from '../../shared/kubernetes/time.ts';
import { callsFor, cloudReady, requeueSoon } from '../../shared/openstack/status.ts';
import { isValid, type Policy } from '../../shared/policy.ts';
import { sentence } from '../../shared/sentence.ts';
import { factsOf } from './facts.ts';
import type { Found, Observed } from './observed.ts';
import { phaseOf, type Trouble, troubleOf } from './state.ts';
import { describeFailedBoot, updateStatus } from './status.ts';

/**
 * A boot that failed is written down first, then its server goes: until then its volumes stay reserved (nova 26). The next boot
 * is tried with the policy's back-off, for ever: nothing is paid for twice here.
 */
export function failedBoot(observed: Observed, found: Found, server: Server): Action[] {
  const { machine, policy, nowMs, refusals } = observed;
  if (isYetUntold(server, nowMs)) return [requeueSoon(machine)];
  const isWritten = machine.status?.failed === server.id;
  const attempts = (machine.status?.attempts ?? 0) + 1;
  const { retryBackoffDuration, maxRetryBackoffDuration } = policy.values;
  const next = toTime(nowMs + backoffMs(attempts, retryBackoffDuration, maxRetryBackoffDuration));
  const failure = sentence((server.fault?.message ?? '').trim() || 'Nova does not say why');
  const message = describeFailedBoot(failure, next);
  const report = {
    phase: 'Failed',
    isReady: false,
    reason: 'BootFailed' as const,
    message,
    conditions: [cloudReady, isNotSo('ServerReady', 'BootFailed', message)],
    fields: { ...factsOf(observed, found, server), attempts, failed: server.id, failure, nextAttemptAt: next },
  };
  return [
    ...(isWritten ? [] : updateStatus(observed, report)),
    ...callsFor(machine, toDelete(server), refusals),
    requeueSoon(machine),
  ];
}

/** Nova puts a server into ERROR first and says why a moment later (nova 26, conductor: set_vm_state_and_notify, then the fault). */
const isYetUntold = ({ fault, updated }: Server, nowMs: number) =>
  !fault?.message && nowMs - Date.parse(updated) < 10_000;

/** Not once more while Nova is at it. */
const toDelete = (server: Server) => (phaseOf(server) === 'Terminating' ? [] : [deleteServer(server.id)]);

/**
 * A server that is in trouble for longer than the policy says is given up, and another is made from the same volumes. On a host that is
 * unreachable it may still run and write to these volumes, so there it is given up only if the policy says that hosts are fenced.
 */
export function inTrouble(observed: Observed, found: Found, server: Server): Action[] | undefined {
  const { machine, policy, nowMs, refusals } = observed;
  const trouble = troubleOf(server);
  if (!trouble) return undefined;
  const since = sinceOf(machine, trouble) ?? toTime(nowMs);
  const lastsMs = isValid(policy, trouble.limit) ? policy.values[trouble.limit] : undefined;
  const message = `${sentence(trouble.message)} ${outlookOf(trouble, policy, lastsMs)}`;
  const report = {
    phase: 'Failed',
    isReady: false,
    reason: trouble.reason,
    message,
    conditions: [cloudReady, isNotSo('ServerReady', trouble.reason, message)],
    fields: { ...factsOf(observed, found, server), failedSince: since },
  };
  const written = updateStatus(observed, report);
  if (lastsMs === undefined) return written;
  const leftMs = Date.parse(since) + lastsMs - nowMs;
  if (leftMs > 0) return [...written, { do: 'requeueAfter', about: machine, afterMs: Math.min(leftMs, 30_000) }];
  return [...written, ...callsFor(machine, toDelete(server), refusals), requeueSoon(machine)];
}

/** Since when it has this fault; an earlier, different fault does not count. */
const sinceOf = ({ status }: KupenStackMachine, { reason }: Trouble) => {
  const before = conditionOf(status?.conditions, 'ServerReady')?.reason;
  return before === undefined || before === reason ? status?.failedSince : undefined;
};

function outlookOf({ limit }: Trouble, policy: Policy, lastsMs: number | undefined): string {
  if (lastsMs !== undefined)
    return `If that lasts for ${formatDuration(lastsMs)}, the server is created again from the same volumes.`;
  if (!isValid(policy, limit)) return `It is left alone, for the policy's ${limit} cannot be read.`;
  return `The server is left alone, because it may still run there and write to its volumes. Fence the host and set the policy's ${limit}, or delete the server.`;
}
