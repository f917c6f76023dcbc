import type { Action } from '../../shared/actions.ts';
import { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import type { Server } from '../../shared/kinds/openstack/server.ts';
import { isNotSo, isSo, type NewCondition, reportStatus, type StatusReport } from '../../shared/kubernetes/status.ts';
import { toTime } from '../../shared/kubernetes/time.ts';
import { cloudReady, describeRefused } from '../../shared/openstack/status.ts';
import type { Cause, Reason } from '../../shared/reasons/reason.ts';
import { sentence } from '../../shared/sentence.ts';
import { factsOf, withoutServer } from './facts.ts';
import type { Found, Observed } from './observed.ts';
import { bootDiskIn, isRoot } from './requests.ts';
import { hasVolume, isFound, networksOf, obstacleIn, volumesOf } from './resolve.ts';
import { isIdle, phaseOf } from './state.ts';

interface Pending {
  report: StatusReport;
  later: Action[];
}

/** Why no server is made now: it is not wanted, a boot failed a moment ago, or something that it needs is missing. */
export function pendingReport(observed: Observed, found: Found): Pending | undefined {
  const { machine, nowMs } = observed;
  const conditions = needs(observed, found);
  const missing = conditions.find(({ status }) => status === 'False');
  const of = (phase: string, reason: Reason, message: string, isReady = false): StatusReport => ({
    phase,
    isReady,
    reason,
    message,
    conditions: [...conditions, isNotSo('ServerReady', reason, message)],
    fields: withoutServer(machine),
  });
  if (missing) return { report: of('Pending', missing.reason, missing.message), later: [] };
  if (!machine.spec.running) {
    return { report: of('Stopped', 'NotStarted', 'It is not to run, and has no server yet.', true), later: [] };
  }
  const { nextAttemptAt, observedGeneration = -1 } = machine.status ?? {};
  const isChanged = observedGeneration >= 0 && observedGeneration !== machine.metadata.generation;
  const waitMs = nextAttemptAt === undefined || isChanged ? 0 : Date.parse(nextAttemptAt) - nowMs;
  if (waitMs <= 0) return undefined;
  const message = describeFailedBoot(machine.status?.failure ?? 'Nova does not say why.', nextAttemptAt);
  return {
    report: of('Failed', 'BootFailed', message),
    later: [{ do: 'requeueAfter', about: machine, afterMs: Math.min(waitMs, 30_000) }],
  };
}

/** The conditions about what a server is made of. */
function needs(observed: Observed, found: Found, server?: Server): NewCondition[] {
  const networks = obstacleIn(networksOf(observed, found));
  const volumes = volumesOf(observed, found);
  // An existing server has booted.
  const disks = obstacleIn(volumes) ?? (server || bootDiskIn(volumes) ? undefined : noBootableDisk);
  return [
    cloudReady,
    networks
      ? isNotSo('NetworksReady', networks.reason, networks.message)
      : isSo('NetworksReady', 'Found', 'All networks exist.'),
    disks ? isNotSo('VolumesReady', disks.reason, disks.message) : isSo('VolumesReady', 'Found', 'All volumes exist.'),
  ];
}

const noBootableDisk: Cause = {
  reason: 'NoBootableDisk',
  message: 'Expected a bootable volume among diskAttachments, found none: fill one from an image, or set it bootable.',
};

/** What OpenStack refuses: with another quota, or when a volume is free again, it may do it after all. */
export function refusedReport(fields: StatusReport['fields'], why: Cause): StatusReport {
  const { reason } = why;
  const message = reason === 'Creating' ? why.message : describeRefused('machine', why);
  return {
    phase: reason === 'Creating' ? 'Creating' : reason === 'FlavorMissing' ? 'Failed' : 'Pending',
    isReady: false,
    reason,
    message,
    conditions: [cloudReady, isNotSo('ServerReady', reason, message)],
    fields,
  };
}

/** The state of an existing server, and which parts of its spec are not applied. */
export function runningReport(
  observed: Observed,
  found: Found,
  server: Server,
  refused: Cause | undefined,
): StatusReport {
  const { machine, nowMs } = observed;
  const phase = phaseOf(server);
  const conditions = needs(observed, found, server);
  const difference = refused
    ? {
        reason: refused.reason,
        message:
          refused.reason === 'DiskMoving'
            ? refused.message
            : `OpenStack refuses a change: ${sentence(refused.message)}`,
      }
    : (keptRoot(observed, found, server) ?? missingOf(conditions));
  const isAsWanted = isIdle(server) && (phase === 'Running') === machine.spec.running;
  const isReady = isAsWanted && !difference;
  const cause: Cause = difference ?? { reason: phase, message: `The server is ${server.status}.` };
  const serverReady = isAsWanted
    ? isSo('ServerReady', phase, `The server is ${server.status}.`)
    : isNotSo('ServerReady', cause.reason, cause.message);
  const ran = isIdle(server)
    ? { attempts: undefined, failed: undefined, failure: undefined, nextAttemptAt: undefined }
    : {};
  return {
    phase,
    isReady,
    ...cause,
    conditions: [...conditions, serverReady],
    fields: {
      ...factsOf(observed, found, server),
      ...ran,
      failedSince: undefined,
      readyAt: machine.status?.readyAt ?? (isReady ? toTime(nowMs) : undefined),
    },
  };
}

const missingOf = (conditions: readonly NewCondition[]) => conditions.find(({ status }) => status === 'False');

/** The disk that a server booted from stays with it, also when the spec names it no more. */
function keptRoot(observed: Observed, found: Found, server: Server): Cause | undefined {
  const names = new Set(
    volumesOf(observed, found)
      .filter(isFound)
      .map((one) => one.found.id),
  );
  const root = found.volumes.find(
    (volume) => hasVolume(server, volume) && isRoot(server, volume) && !names.has(volume.id),
  );
  if (!root) return undefined;
  return {
    reason: 'RootDiskKept',
    message: `The server booted from volume ${root.name || root.id}, which diskAttachments no longer name: make another machine to boot from another disk.`,
  };
}

/** The message while another boot is awaited. */
export const describeFailedBoot = (failure: string, next: string | undefined) =>
  `The server could not be booted: ${failure} It is tried again at ${next}.`;

/** Writes the status of a machine if it differs. */
export const updateStatus = ({ machine, nowMs }: Pick<Observed, 'machine' | 'nowMs'>, report: StatusReport): Action[] =>
  reportStatus({ resource: KupenStackMachine }, machine, report, nowMs);
