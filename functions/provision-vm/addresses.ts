import type { KubeVirtInstance } from '../../shared/resources/kubevirt/virtual-machine-instance.ts';
import type { VirtualMachine, VirtualMachineStatus } from '../../shared/resources/pelotech/virtual-machine.ts';
import { fixedAddressesOf, nicsOf } from './networks.ts';
import { podNetwork } from './template.ts';

/**
 * The addresses that the instance reports. Without an agent in the guest KubeVirt knows none on a network that has no IPAM, and
 * the machine is well all the same.
 */
export function reportedAddresses(
  machine: VirtualMachine,
  instance: KubeVirtInstance | undefined,
): VirtualMachineStatus['addresses'] {
  const seen = new Map((instance?.status?.interfaces ?? []).map((one) => [one.name, one]));
  const nics = nicsOf(machine).map(({ name, spec: { network } }) => ({ name, network }));
  const networks = nics.length > 0 ? nics : [{ name: podNetwork, network: podNetwork }];
  const addresses = networks.flatMap(({ name, network }) => {
    const { ipAddress, mac } = seen.get(name) ?? {};
    return ipAddress || mac ? [{ network, ...(ipAddress ? { ipAddress } : {}), ...(mac ? { mac } : {}) }] : [];
  });
  return addresses.length > 0 ? addresses : undefined;
}

/** The fixed addresses that the machine was made with: those of a spec that is not carried through are not among them. */
export function givenAddresses(machine: VirtualMachine, isCarriedThrough: boolean) {
  if (!isCarriedThrough) return machine.status?.fixedAddresses;
  const asked = fixedAddressesOf(machine).map(({ network, bare }) => ({ network, ipAddress: bare }));
  return asked.length > 0 ? asked : undefined;
}
