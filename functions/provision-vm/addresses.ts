import type { KubeVirtInstance } from '../../shared/resources/kubevirt/virtual-machine-instance.ts';
import type { VirtualMachine, VirtualMachineStatus } from '../../shared/resources/pelotech/virtual-machine.ts';
import { nicsOf } from './networks.ts';
import { podNetwork } from './template.ts';

type Addresses = NonNullable<VirtualMachineStatus['addresses']>;

/**
 * The address on each network: what the guest says, else what was asked for. Without a guest agent KubeVirt knows none on a
 * network that has no IPAM, and the machine is well all the same. What is asked for and not carried through is no address of
 * the machine: it has the one from before.
 */
export function addressesOf(
  machine: VirtualMachine,
  instance: KubeVirtInstance | undefined,
  isCarriedThrough: boolean,
): Addresses {
  const before = new Map(machine.status?.addresses?.map(({ network, ipAddress }) => [network, ipAddress]));
  const seen = new Map((instance?.status?.interfaces ?? []).map((one) => [one.name, one]));
  const nics = nicsOf(machine);
  if (nics.length === 0) {
    const { ipAddress, mac } = seen.get(podNetwork) ?? {};
    return ipAddress || mac
      ? [{ network: podNetwork, ...(ipAddress ? { ipAddress } : {}), ...(mac ? { mac } : {}) }]
      : [];
  }
  return nics.map(({ name, mac, spec }) => {
    const asked = isCarriedThrough ? spec.ipAddress?.split('/')[0] : before.get(spec.network);
    const ipAddress = seen.get(name)?.ipAddress || asked;
    return { network: spec.network, ...(ipAddress ? { ipAddress } : {}), mac };
  });
}
