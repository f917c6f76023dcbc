import { type MachineCondition, VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import type { Condition } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { until, type World } from './world.ts';

type Where = Pick<World, 'kube' | 'namespace'>;

/** Resolves with the machine's condition of that type, as soon as it has that reason. */
export async function untilReason(
  { kube, namespace }: Where,
  name: string,
  type: MachineCondition,
  reason: string,
): Promise<Condition> {
  const isSo = (machine: VirtualMachine | undefined) => reasonOf(machine, type) === reason;
  const machine = await until({ kube }, VirtualMachine, { namespace, name }, isSo);
  return conditionOf(machine?.status?.conditions, type) as Condition;
}

export const reasonOf = (machine: VirtualMachine | undefined, type: MachineCondition) =>
  conditionOf(machine?.status?.conditions, type)?.reason;
