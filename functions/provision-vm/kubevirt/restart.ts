import type { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { isNotSo, isSo } from '../../../shared/kubernetes/status.ts';
import type { Reason } from '../../../shared/reasons/reason.ts';
import { rootDiskName } from '../children.ts';
import { isOlderThan } from '../guest/cloud-init.ts';
import type { NewMachineCondition, Observed, Obstacle } from '../observed.ts';
import type { KubeVirtState } from './state.ts';

type Input = Pick<Observed, 'machine' | 'dataVolume' | 'secret' | 'kubeVirtMachine' | 'instance'>;

/** Whether what runs is what the spec says, and what to do where it is not; undefined before there is a KubeVirt machine. */
export function restartCondition(
  { machine, dataVolume, secret, kubeVirtMachine, instance }: Input,
  { fault, state }: { fault: Obstacle | undefined; state: KubeVirtState | undefined },
): NewMachineCondition | undefined {
  const upToDate = isNotSo(type, 'UpToDate', 'What runs is what the spec says.');
  if (!kubeVirtMachine) return state ? upToDate : undefined;
  const { namespace, name } = machine.metadata;
  if (fault) {
    return needed(fault.reason, `The spec is not applied, and the earlier one stays in effect. ${fault.message}`);
  }
  const isOutdated = secret && dataVolume && isOlderThan(secret, dataVolume);
  const asked = kubeVirtMachine.status?.conditions.some(
    ({ type, status }) => type === 'RestartRequired' && status === 'True',
  );
  const restart = `Restart the machine (virtctl restart ${name} -n ${namespace}) for its changed spec to count.`;
  if (isOutdated) {
    const once = `Users, host name and addresses changed after the first start, and cloud-init applies them once for each disk: change them in the guest too, or delete DataVolume ${namespace}/${rootDiskName(name)} and restart for a new disk, without what is on this one.`;
    return needed('CloudInitChanged', asked ? `${restart} ${once}` : once);
  }
  if (asked) return needed('SpecChanged', restart);
  const isSettled = state?.is === 'halted' || (state?.is === 'running' && !instance?.metadata.deletionTimestamp);
  return isSettled || !wasAsked(machine)
    ? upToDate
    : needed('Restarting', 'The machine is being restarted; its changed spec counts once it runs again.');
}

/** KubeVirt removes its condition RestartRequired when a restart begins (kubevirt, pkg/virt-controller/watch/vm/vm.go stopVMI). */
function wasAsked({ status }: VirtualMachine) {
  const before = conditionOf(status?.conditions, type);
  return before?.status === 'True' && ['SpecChanged', 'Restarting'].includes(before.reason);
}

const type = 'RestartRequired';

const needed = (reason: Reason, message: string) => isSo(type, reason, message);
