import type { Claim, Condition } from '../controller/kinds.ts';
import { type Annotations, annotation } from './annotation.ts';

/** The fields of a condition, without empty ones. */
interface ConditionText {
  status: 'True' | 'False' | 'Unknown';
  reason?: string;
  message?: string;
}

const text = (status: ConditionText['status'], reason = '', message = ''): ConditionText => ({
  status,
  ...(reason === '' ? {} : { reason }),
  ...(message === '' ? {} : { message }),
});

/**
 * Sets one condition as CDI does: a new status moves both times, a new reason or message only the heartbeat.
 * Conditions keep their order, a new one comes last.
 */
function withCondition(conditions: readonly Condition[], type: string, next: ConditionText, time: string): Condition[] {
  const previous = conditions.find((condition) => condition.type === type);
  const before = previous?.status === next.status ? previous : undefined;
  const since = before ? before.lastTransitionTime : time;
  const condition: Condition =
    before?.reason === next.reason && before?.message === next.message && before
      ? before
      : { type, ...next, ...(since === undefined ? {} : { lastTransitionTime: since }), lastHeartbeatTime: time };
  return previous ? conditions.map((one) => (one === previous ? condition : one)) : [...conditions, condition];
}

const phaseReady = (phase: string) => (phase === 'Succeeded' ? 'True' : phase === 'Unknown' ? 'Unknown' : 'False');

/**
 * The three conditions of a DataVolume, from its claim and the annotations on it.
 * `missing` is the message of a DataVolume without a claim.
 */
export function conditionsOf(
  before: readonly Condition[],
  phase: string,
  claim: Claim | undefined,
  missing: { reason: string; message: string },
  time: string,
): Condition[] {
  let conditions = withCondition(before, 'Bound', boundText(claim, missing), time);
  // As CDI does it, in this order: a claim that is not bound first clears Ready, the phase then decides it, a running
  // transfer overrules. This is why the heartbeat of Ready moves although nothing has changed.
  if (claim?.status?.phase !== 'Bound') conditions = withCondition(conditions, 'Ready', text('False'), time);
  conditions = withCondition(conditions, 'Ready', text(phaseReady(phase), missing.reason, missing.message), time);
  const running = runningText(claim?.metadata.annotations ?? {});
  conditions = withCondition(conditions, 'Running', running, time);
  return running.status === 'True'
    ? withCondition(conditions, 'Ready', text('False', 'TransferRunning'), time)
    : conditions;
}

function boundText(claim: Claim | undefined, missing: { reason: string; message: string }): ConditionText {
  if (!claim) return text('False', missing.reason || 'NotFound', missing.message || 'No PVC found');
  const { name, annotations = {} } = claim.metadata;
  const bound = annotations[annotation.bound];
  const hindered = bound !== undefined && bound !== 'true';
  const reason = annotations[annotation.boundReason] ?? '';
  const message = annotations[annotation.boundMessage] ?? '';
  switch (claim.status?.phase ?? 'Pending') {
    case 'Bound':
      return hindered ? text('False', reason, message) : text('True', 'Bound', `PVC ${name} Bound`);
    case 'Pending': {
      if (!hindered) return text('False', 'Pending', `PVC ${name} Pending`);
      const prime = annotations[annotation.pvcPrime];
      return text('False', reason, `target PVC ${name} Pending and ${prime ? `[${prime}] : ` : ''}${message}`);
    }
    case 'Lost':
      return text('False', 'ClaimLost', 'Claim Lost');
    default:
      return text('False');
  }
}

function runningText(annotations: Annotations): ConditionText {
  if (annotations[annotation.podSchedulable] === 'false')
    return text('False', 'Unschedulable', 'Importer pod cannot be scheduled');
  const status = annotations[annotation.running] === 'true' ? 'True' : 'False';
  return text(status, annotations[annotation.runningReason], annotations[annotation.runningMessage]);
}
