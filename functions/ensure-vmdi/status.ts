import type { Action } from '../../shared/actions.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { conditionAfter, conditionOf } from '../../shared/kubernetes/conditions.ts';
import { recordEvent } from '../../shared/kubernetes/events.ts';
import { changesOf } from '../../shared/kubernetes/status-changes.ts';
import { toTime } from '../../shared/kubernetes/time.ts';
import { traceOfMachine } from '../../shared/traces.ts';
import type { Observed } from './observed.ts';
import type { Resolution } from './resolution.ts';

/**
 * The machine's condition, and an Event if the template differs; nothing if both are reported already. provision-vm writes the phase,
 * and so reports that a machine fails without its image.
 */
export function reportResolution(
  machine: VirtualMachine,
  resolution: Resolution | undefined,
  { nowMs, image }: Observed,
): Action[] {
  if (!resolution) return [];
  const { name, namespace, uid, generation } = machine.metadata;
  const { status, reason, message, differences } = resolution;
  const before = conditionOf(machine.status?.conditions, 'ImageResolved');
  const wanted = { type: 'ImageResolved', status, reason, message, observedGeneration: generation };
  const condition = conditionAfter(before, wanted, toTime(nowMs));
  if (Object.keys(changesOf(before ?? {}, condition)).length === 0) return [];
  return [
    {
      do: 'apply',
      resource: VirtualMachine,
      object: { metadata: { name, namespace, uid }, status: { conditions: [condition] } },
      subresource: 'status',
      force: true,
      trace: traceOfMachine(machine, image),
    },
    ...(differences.length > 0 ? [recordEvent(machine, true, 'TemplateMismatch', message, String(generation))] : []),
  ];
}
