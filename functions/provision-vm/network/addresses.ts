import type { KubeVirtInstance } from '../../../shared/kinds/kubevirt/virtual-machine-instance.ts';
import type { VirtualMachine, VirtualMachineStatus } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { podNetwork } from '../kubevirt/template.ts';
import { fixedAddressesOf, nicsOf } from './networks.ts';

/**
 * The addresses that the instance reports. If the guest runs no agent, KubeVirt knows no address on a network without IPAM. This
 * does not affect the phase of the machine.
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

/** The fixed addresses that the machine was made with. A changed spec that is not applied yet does not change them. */
export function givenAddresses(machine: VirtualMachine, isCarriedThrough: boolean) {
  if (!isCarriedThrough) return machine.status?.fixedAddresses;
  const asked = fixedAddressesOf(machine).map(({ network, bare }) => ({ network, ipAddress: bare }));
  return asked.length > 0 ? asked : undefined;
}
