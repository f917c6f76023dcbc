import type { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { repeated } from '../../../shared/reasons/reason.ts';
import { type ComponentStatus, failed, provisioning, ready } from '../stage.ts';

/** The status of a machine of the workspace, in the words of its own Ready condition. */
export function statusOfMachine(found: VirtualMachine | undefined): ComponentStatus {
  const { phase, message = '', conditions, observedGeneration } = found?.status ?? {};
  const reason = repeated(conditionOf(conditions, 'Ready')?.reason ?? 'Provisioning');
  if (phase === 'Failed') return failed(reason, message);
  const isCurrent = observedGeneration === found?.metadata.generation;
  if (phase === 'Ready' && isCurrent) return ready(reason, message);
  return provisioning(phase === 'Ready' ? 'Updating' : reason, message || 'It has not been looked at yet.');
}
