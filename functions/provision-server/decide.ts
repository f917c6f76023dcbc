import type { Action } from '../../shared/actions.ts';
import { kupenstackFinalizer } from '../../shared/kinds/kupenstack/condition.ts';
import { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import { deleteFlavor } from '../../shared/kinds/openstack/flavor.ts';
import type { Server } from '../../shared/kinds/openstack/server.ts';
import { addFinalizer, hasFinalizer } from '../../shared/kubernetes/finalizer.ts';
import { isNotSo, type StatusReport } from '../../shared/kubernetes/status.ts';
import {
  callsFor,
  cloudReady,
  firstRefusal,
  notUnique,
  refusalOf,
  requeueAfterFault,
  requeueSoon,
  unreachable,
} from '../../shared/openstack/status.ts';
import type { Cause } from '../../shared/reasons/reason.ts';
import { statusBefore, withoutServer } from './facts.ts';
import { finalize } from './finalize.ts';
import type { Found, Observed } from './observed.ts';
import { failedBoot, inTrouble } from './recover.ts';
import { toChange, toCreate } from './requests.ts';
import { isBusy, isHostUnreachable, neverRan } from './state.ts';
import { pendingReport, refusedReport, runningReport, updateStatus } from './status.ts';

/**
 * Creates a server with what it needs, keeps it as its spec says, and reports its status. Order: finalizer → flavor, key pair, ports →
 * server → status; changes one after the other, each seen before the next. What was made is found by the uid it carries, whatever
 * the status says, so that no answer that was lost makes a second server.
 */
export function decide(observed: Observed): Action[] {
  const { machine, cloud } = observed;
  if (machine.metadata.deletionTimestamp) return finalize(observed);
  if ('fault' in cloud) {
    // The duration of a fault restarts: it was not observed whether it lasted, and hosts come back later than their API.
    const fields = { ...statusBefore(machine), failedSince: undefined };
    const report = unreachable(cloud.fault, machine.status?.id !== undefined, fields);
    return [...updateStatus(observed, report), ...requeueAfterFault(cloud.fault, machine)];
  }
  if (!hasFinalizer(machine, kupenstackFinalizer))
    return [addFinalizer(KupenStackMachine, machine, kupenstackFinalizer), { do: 'requeue', about: machine }];
  const [server, second] = cloud.servers;
  if (second) return updateStatus(observed, twice(observed, cloud));
  return server ? follow(observed, cloud, server) : begin(observed, cloud);
}

function begin(observed: Observed, found: Found): Action[] {
  const { machine, refusals } = observed;
  const pending = pendingReport(observed, found);
  if (pending) return [...updateStatus(observed, pending.report), ...tidy(observed, found), ...pending.later];
  const next = toCreate(observed, found);
  const report = (why: Cause) => updateStatus(observed, refusedReport(withoutServer(machine), why));
  if ('refused' in next) return report(next.refused);
  const calls = callsFor(machine, next.requests, refusals);
  if (calls.length > 0) return calls;
  const creating: Cause = { reason: 'Creating', message: 'The server is being made.' };
  return report(firstRefusal(refusals, machine, next.requests) ?? creating);
}

function follow(observed: Observed, found: Found, server: Server): Action[] {
  const { machine, refusals } = observed;
  if (neverRan(server) && !isHostUnreachable(server)) return failedBoot(observed, found, server);
  const trouble = inTrouble(observed, found, server);
  if (trouble) return trouble;
  const next = toChange(observed, found, server);
  const calls = callsFor(machine, next.requests, refusals);
  if (calls.length > 0) return calls;
  const refused = next.refused ?? firstRefusal(refusals, machine, next.requests);
  const isUnderWay =
    isBusy(server) || next.requests.some((request) => isPassing(refusalOf(refusals, machine, request)));
  return [
    ...updateStatus(
      observed,
      runningReport(observed, found, server, refused ?? (isMoving(found, server) ? moving : undefined)),
    ),
    ...tidy(observed, found),
    ...(isUnderWay || isMoving(found, server) ? [requeueSoon(machine)] : []),
  ];
}

/** Another task is running, or OpenStack did not answer. Other refusals wait for the sweep. */
const isPassing = (refused: Cause | undefined) => refused?.reason === 'Conflict' || refused?.reason === 'Unavailable';

const moving = { reason: 'DiskMoving', message: 'A disk of it is being attached or detached.' } as const;

/** A disk of it comes or goes. */
const isMoving = ({ volumes }: Found, server: Server) =>
  volumes.some(
    ({ status, attachments }) =>
      /^(reserved|attaching|detaching)$/.test(status) && attachments.some(({ server_id }) => server_id === server.id),
  );

/** Flavors that are no longer needed. A concurrent deletion by another instance is no fault. */
const tidy = ({ machine, refusals }: Observed, { unusedFlavors }: Found): Action[] =>
  callsFor(
    machine,
    unusedFlavors.map(({ id }) => deleteFlavor(id)),
    refusals,
  );

function twice({ machine }: Observed, { servers }: Found): StatusReport {
  const cause = notUnique('server', servers);
  return {
    phase: 'Failed',
    isReady: false,
    ...cause,
    conditions: [cloudReady, isNotSo('ServerReady', cause.reason, cause.message)],
    fields: statusBefore(machine),
  };
}
