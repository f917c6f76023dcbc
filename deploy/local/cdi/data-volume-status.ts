import { toTime } from '../../../shared/kubernetes/time.ts';
import type { Claim, Condition, DataVolume, DataVolumeStatus } from '../controller/kinds.ts';
import type { EventText } from '../controller/write.ts';
import { annotation } from './annotation.ts';
import { conditionsOf } from './conditions.ts';

/** What CDI looks at when it writes the status of a DataVolume. */
export interface StatusInput {
  dataVolume: DataVolume;
  claim: Claim | undefined;
  /** The claim that the importer writes to, while there is one beside the target. */
  prime: Claim | undefined;
  /** The class binds when a consumer comes, and none has. */
  waitsForConsumer: boolean;
  usePopulator: boolean;
  nowMs: number;
}

/** A phase, and the event that it brings with it where it is new. */
export interface PhaseChange {
  phase: string;
  event: EventText | undefined;
}

export const silent = (phase: string): PhaseChange => ({ phase, event: undefined });

type PhaseOf = (phase: string, claim: Claim, input: StatusInput) => PhaseChange;

const succeeded = (claim: Claim) => claim.metadata.annotations?.[annotation.podPhase] === 'Succeeded';

/** The next status of a DataVolume, and the event that its phase brings with it; `phaseOf` tells the phase from its claim. */
export function nextStatus(
  input: StatusInput,
  phaseOf: PhaseOf = nextPhase,
): { status: DataVolumeStatus; phaseEvent: EventText | undefined } {
  const before: DataVolumeStatus = input.dataVolume.status ?? { phase: '', conditions: [] };
  const claim = input.claim?.metadata.deletionTimestamp ? undefined : input.claim;
  const { phase, event } = claim
    ? phaseOf(before.phase, claim, input)
    : { phase: input.claim ? before.phase : before.phase || 'Pending', event: undefined };
  const conditions = conditionsOf(
    before.conditions,
    phase,
    input.claim,
    { reason: '', message: '' },
    toTime(input.nowMs),
  );
  return {
    status: { ...before, phase, ...(claim ? claimFields(claim, phase, before, input) : {}), conditions },
    phaseEvent: event,
  };
}

/** The status of a DataVolume for which no claim can be made: the cause stands in Bound and Ready. */
export function hinderedStatus(dataVolume: DataVolume, phase: string, reason: string, message: string, nowMs: number) {
  const before: DataVolumeStatus = dataVolume.status ?? { phase: '', conditions: [] };
  const conditions = conditionsOf(before.conditions, phase, undefined, { reason, message }, toTime(nowMs));
  return { ...before, phase, conditions };
}

function claimFields(claim: Claim, phase: string, before: DataVolumeStatus, { usePopulator }: StatusInput) {
  const annotations = claim.metadata.annotations ?? {};
  const progress = usePopulator ? (annotations[annotation.populatorProgress] ?? 'N/A') : (before.progress ?? 'N/A');
  return {
    claimName: claim.metadata.name,
    ...restarts(Number(annotations[annotation.podRestarts] ?? before.restartCount ?? 0)),
    progress: phase === 'Succeeded' ? '100.0%' : progress,
  };
}

/** The count appears with the first restart. */
const restarts = (count: number) => (count === 0 ? {} : { restartCount: count });

function nextPhase(phase: string, claim: Claim, input: StatusInput): PhaseChange {
  if (claim.status?.phase === 'Lost') return claimLost(claim);
  if (succeeded(claim)) return importPhase(phase, claim, input);
  switch (claim.status?.phase ?? 'Pending') {
    case 'Pending':
      if (input.usePopulator)
        return input.waitsForConsumer ? silent('PendingPopulation') : importPhase(phase, claim, input);
      return silent(input.waitsForConsumer ? 'WaitForFirstConsumer' : 'Pending');
    case 'Bound':
      return importPhase(
        ['', 'Pending', 'WaitForFirstConsumer', 'Unknown'].includes(phase) ? 'PVCBound' : phase,
        claim,
        input,
      );
    default:
      return silent('Unknown');
  }
}

export const claimLost = ({ metadata }: Claim): PhaseChange => ({
  phase: 'Failed',
  event: { type: 'Warning', reason: 'ErrClaimLost', message: `PVC ${metadata.name} lost` },
});

/** The phase as the importer pod tells it, through annotations of the claim. */
function importPhase(phase: string, claim: Claim, input: StatusInput): PhaseChange {
  const filled = input.usePopulator ? input.prime : claim;
  const started =
    filled?.status?.phase === 'Bound' && filled.metadata.annotations?.[annotation.importPod] !== undefined;
  if (!succeeded(claim) && !started) return silent(phase);
  const { name, annotations = {} } = claim.metadata;
  const normal = (reason: string, message: string): PhaseChange => ({
    phase: reason === 'ImportSucceeded' ? 'Succeeded' : reason,
    event: { type: 'Normal', reason, message },
  });
  switch (annotations[annotation.podPhase]) {
    case 'Pending':
      return normal('ImportScheduled', `Import into ${name} scheduled`);
    case 'Running':
      return normal('ImportInProgress', `Import into ${name} in progress`);
    case 'Succeeded':
      return normal('ImportSucceeded', `Successfully imported into PVC ${name}`);
    case 'Failed':
      return {
        phase: annotations[annotation.fatalError] === 'true' ? 'Failed' : 'ImportScheduled',
        event: { type: 'Warning', reason: 'ImportFailed', message: `Failed to import into PVC ${name}` },
      };
    default:
      return silent(phase);
  }
}

const find = (status: DataVolumeStatus | undefined, type: string): Condition | undefined =>
  status?.conditions.find((condition) => condition.type === type);

const differs = (a: Condition | undefined, b: Condition | undefined) =>
  a?.status !== b?.status || a?.reason !== b?.reason || a?.message !== b?.message;

const scratchMessage = 'scratch space required and none found';

/** The events for a change of status: one for a new phase, one for each change of Bound, a warning for each new failure. */
export function eventsOf(
  before: DataVolumeStatus | undefined,
  after: DataVolumeStatus,
  phaseEvent: EventText | undefined,
  usePopulator: boolean,
): EventText[] {
  const events: EventText[] = phaseEvent && before?.phase !== after.phase ? [phaseEvent] : [];
  const bound = find(after, 'Bound');
  if (bound && differs(find(before, 'Bound'), bound))
    events.push({ type: 'Normal', reason: bound.reason ?? '', message: bound.message ?? '' });
  const running = find(after, 'Running');
  const waiting = ['Pending', 'PendingPopulation', ''].includes(after.phase);
  const underWay = bound?.status === 'True' || (usePopulator && !waiting);
  const failing = find(after, 'Ready')?.status === 'False' && running?.status === 'False' && underWay;
  const message = running?.message ?? '';
  if (failing && message && message !== scratchMessage && find(before, 'Running')?.message !== message)
    events.push({ type: 'Warning', reason: running.reason ?? '', message });
  return events;
}

/** Whether a status says something new; heartbeats alone do not. */
export const saysMore = (before: DataVolumeStatus | undefined, after: DataVolumeStatus) =>
  JSON.stringify(withoutHeartbeats(before)) !== JSON.stringify(withoutHeartbeats(after));

const withoutHeartbeats = (status: DataVolumeStatus | undefined) => ({
  phase: status?.phase ?? '',
  claimName: status?.claimName,
  progress: status?.progress,
  restartCount: status?.restartCount,
  conditions: status?.conditions.map(({ type, status: value, reason, message }) => [type, value, reason, message]),
});
