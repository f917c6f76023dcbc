import { matchesAny } from '../../../shared/glob.ts';
import { hardwareKinds } from '../../../shared/kinds/kubevirt/hardware.ts';
import { isValid, policyName } from '../../../shared/policy.ts';
import { final, type Observed, type Obstacle, trouble } from '../observed.ts';
import { type MatcherField, matcherFields } from './hardware.ts';
import { isAsWanted } from './kubevirt-machine.ts';

type Named = Pick<Observed, 'machine' | 'kubeVirtMachine' | 'policy'>;

/**
 * The fields whose objects have to exist: those that the KubeVirt machine is not yet made with. KubeVirt keeps a copy of what a machine was made with,
 * and admits a machine whose objects it does not find (kubevirt, pkg/instancetype/webhooks/vm/admitter.go).
 */
export function hardwareNeeded({ machine, kubeVirtMachine, policy }: Named): MatcherField[] {
  const named = matcherFields.filter(
    (field) => machine.spec[field] !== undefined && kubeVirtMachine?.spec?.[field]?.name !== machine.spec[field],
  );
  // KubeVirt may write out what they say in place of their names (instancetype.referencePolicy Expand).
  return named.length > 0 && kubeVirtMachine && isAsWanted(machine, policy, kubeVirtMachine) ? [] : named;
}

/** An instancetype can bring GPUs, host devices, dedicated CPUs and nodes, which no other field of a machine can; a preference cannot. */
export function hardwareFault(observed: Observed): Obstacle | undefined {
  const { machine, policy, missing } = observed;
  const needed = hardwareNeeded(observed);
  const { machineInstancetypes: allowed } = policy.values;
  const { instancetype = '' } = machine.spec;
  if (needed.includes('instancetype') && isValid(policy, 'machineInstancetypes')) {
    if (!matchesAny(allowed, instancetype, '')) {
      const line = [...allowed, instancetype].join(' ');
      return final(
        'InstancetypeNotAllowed',
        `VirtualMachineClusterInstancetype ${instancetype} is not one that the policy lets machines use. Give cpu and memory in resources, or have a platform admin set "machineInstancetypes: ${line}" in ConfigMap ${policyName}.`,
      );
    }
  }
  const field = needed.find((one) => missing.includes(one));
  if (!field) return undefined;
  const { kind, plural } = hardwareKinds[field];
  return trouble(
    field === 'preference' ? 'PreferenceMissing' : 'InstancetypeMissing',
    `${kind} ${machine.spec[field]} does not exist. Create it, or name another in ${field} (kubectl get ${plural}).`,
  );
}

export const hardwareReasons: ReadonlySet<string> = new Set(['PreferenceMissing', 'InstancetypeMissing']);
