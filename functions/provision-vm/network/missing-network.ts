import type { KubeVirtMachine } from '../../../shared/kinds/kubevirt/virtual-machine.ts';
import type { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { keyOf } from '../../../shared/kinds/resource.ts';
import { isValid, type Policy, policyName } from '../../../shared/policy.ts';
import { isToRun, runStrategyFor } from '../kubevirt/kubevirt-machine.ts';
import { final, type Observed, type Obstacle, trouble } from '../observed.ts';
import { nicsOf } from './networks.ts';

/**
 * The networks that have to exist, if the machine may join them: all of them until it runs, then those that are new in its spec. KubeVirt does not
 * check this. Multus reports a missing network only in Events of the Pod (kubevirt, ExternalNetResourceInjection).
 */
export function networksNeeded({ machine, kubeVirtMachine, policy }: Networked): string[] {
  if (!kubeVirtMachine && runStrategyFor(machine, policy) === 'Halted') return [];
  const all = nicsOf(machine)
    .filter(({ attachment }) => mayJoin(machine, attachment.namespace, policy))
    .map(({ attachment }) => keyOf(attachment));
  if (!kubeVirtMachine) return all;
  const { printableStatus, ready } = kubeVirtMachine.status ?? {};
  if (!isToRun(kubeVirtMachine)) return [];
  return printableStatus === 'Running' && ready ? all.filter((key) => !hasNetwork(kubeVirtMachine, key)) : all;
}

type Networked = Pick<Observed, 'machine' | 'kubeVirtMachine' | 'policy'>;

/** Networks of its own namespace, and of those that the policy opens. */
const mayJoin = ({ metadata }: VirtualMachine, namespace: string, { values }: Policy) =>
  namespace === metadata.namespace || values.machineNetworks.includes(namespace);

/** A network that the machine may not join, whether it exists or not; unless the KubeVirt machine has it from before. */
export function forbiddenNetwork({ machine, kubeVirtMachine, policy }: Networked): Obstacle | undefined {
  if (!isValid(policy, 'machineNetworks')) return undefined;
  const found = nicsOf(machine)
    .map(({ attachment }) => attachment)
    .filter((attachment) => !mayJoin(machine, attachment.namespace, policy))
    .find((attachment) => !kubeVirtMachine || !hasNetwork(kubeVirtMachine, keyOf(attachment)));
  if (!found) return undefined;
  const line = [...policy.values.machineNetworks, found.namespace].join(' ');
  return final(
    'NetworkNotAllowed',
    `Network ${keyOf(found)} belongs to another namespace, whose networks the policy does not open. Name a network of ${machine.metadata.namespace}, or have a platform admin set "machineNetworks: ${line}" in ConfigMap ${policyName}.`,
  );
}

/** A missing network that the KubeVirt machine does not have yet: it is neither made nor changed while this lasts. */
export const networkFault = ({ machine, kubeVirtMachine, networks, policy }: Observed): Obstacle | undefined =>
  missingNetwork(
    networks,
    networksNeeded({ machine, kubeVirtMachine, policy }).filter(
      (key) => !kubeVirtMachine || !hasNetwork(kubeVirtMachine, key),
    ),
  );

/** A missing network that the KubeVirt machine already names. */
export const networkLost = ({ kubeVirtMachine, networks }: Observed): Obstacle | undefined =>
  missingNetwork(networks, kubeVirtMachine ? networks.missing.filter((key) => hasNetwork(kubeVirtMachine, key)) : []);

export const networkReasons: ReadonlySet<string> = new Set(['NetworkMissing', 'MultusMissing']);

function missingNetwork({ isServed, missing }: Observed['networks'], needed: readonly string[]): Obstacle | undefined {
  const found = needed.find((key) => missing.includes(key));
  if (found === undefined) return undefined;
  return isServed
    ? trouble(
        'NetworkMissing',
        `NetworkAttachmentDefinition ${found} does not exist. Create it or remove the network from the VirtualMachine.`,
      )
    : trouble(
        'MultusMissing',
        'This cluster does not know the kind NetworkAttachmentDefinition. Install Multus or remove the networks from the VirtualMachine.',
      );
}

const hasNetwork = ({ spec }: KubeVirtMachine, key: string) => {
  const { networks = [] } = (spec?.template as Template | undefined)?.spec ?? {};
  return networks.some(({ multus }) => multus?.networkName === key);
};

interface Template {
  spec?: { networks?: readonly { multus?: { networkName?: string } }[] };
}
