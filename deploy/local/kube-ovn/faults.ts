import { type FaultTable, type FaultTarget, tableOf } from '../controller/fault-table.ts';

/** What can go wrong with a network beyond what two equal ranges in one Vpc or a missing Vpc bring by itself. */
type NetworkFaultMode =
  /** kube-ovn refuses the Subnet (each look is an occasion): not Validated, not Ready. */
  | { mode: 'refused'; message?: string }
  /** The Subnet is valid, and what follows in OVN fails: not Ready. */
  | { mode: 'ovnError'; message?: string }
  /** An address is in use that no Pod has, for this time or for ever: a deleted Subnet stays. */
  | { mode: 'addressInUse'; forMs?: number }
  /** kube-ovn does nothing for this time about a Vpc or Subnet. */
  | { mode: 'controllerDown'; forMs: number };

/** A fault for the Vpcs and Subnets whose name matches. */
export type NetworkFaultRule = NetworkFaultMode & FaultTarget;

type NetworkFaults = FaultTable<NetworkFaultRule, string>;

export const networkFaults = (rules: readonly NetworkFaultRule[]): NetworkFaults => tableOf(rules, (name) => [name]);
