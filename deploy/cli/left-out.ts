import { formatReference, referencesAmong } from '../../shared/images/references.ts';
import type { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import type { Policy } from '../../shared/policy.ts';

/** A namespace that imageNamespaces lacks, although machines of other namespaces have disks of its images. */
interface LeftOut {
  namespace: string;
  users: string;
  command: string;
}

/** The limit of machines that are named. */
const mostNamed = 3;

/**
 * Images that lost the protection by machines of other namespaces, in most cases because imageNamespaces is misspelt. Only a machine with a
 * disk is certain to have been allowed to use its image.
 */
export function leftOutOf(policy: Policy, machines: readonly VirtualMachine[]): LeftOut[] {
  const using = machines.filter(({ metadata, status }) => status?.rootDisk && !metadata.deletionTimestamp);
  const counted = new Set(referencesAmong(using, policy));
  const others = using.filter((machine) => !counted.has(machine));
  const byNamespace = Map.groupBy(others, ({ spec }) => spec.vmDiskImageRef.namespace);
  const whole = [...policy.values.imageNamespaces, ...byNamespace.keys()].join(',');
  return [...byNamespace].map(([namespace, users]) => {
    const names = users.slice(0, mostNamed).map(formatReference).join(', ');
    return {
      namespace,
      users: `machines of other namespaces use its images (${users.length}: ${names}${users.length > mostNamed ? ', …' : ''})`,
      command: `ot-functions policy set imageNamespaces ${whole}`,
    };
  });
}
