import type { Subnet } from '../../../shared/kinds/kube-ovn/subnet.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { repeated } from '../../../shared/reasons/reason.ts';
import { type ComponentStatus, failed, provisioning, ready } from '../stage.ts';

/** The status of a network, in the words of kube-ovn. */
export function statusOfSubnet(subnet: Subnet | undefined): ComponentStatus {
  const conditions = subnet?.status?.conditions;
  const isTrue = (type: string) => conditionOf(conditions, type)?.status === 'True';
  if (isTrue('Ready')) return ready('SubnetReady', 'kube-ovn has set it up.');
  const fault = conditions?.find(
    ({ type, status }) => (type === 'Error' && status === 'True') || (type === 'Validated' && status === 'False'),
  );
  return fault
    ? failed(repeated(fault.reason || 'SubnetFailed'), `kube-ovn cannot set it up: ${fault.message || fault.reason}`)
    : provisioning('SubnetNotReady', 'kube-ovn has not set it up yet.');
}
