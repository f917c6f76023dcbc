import type { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import { createFlavor, type Flavor, flavorName, hasSize, type Size } from '../../shared/kinds/openstack/flavor.ts';
import { bytesOf } from '../../shared/kubernetes/quantity.ts';
import type { Refusals } from '../../shared/kubernetes/refusal.ts';
import { refusalOf } from '../../shared/openstack/status.ts';
import type { Cause } from '../../shared/reasons/reason.ts';

const mebibytes = (quantity: string) => Math.ceil((bytesOf(quantity) ?? 0) / 2 ** 20);

/** The numbers that a spec asks for; Nova counts memory and swap in MiB, and more is given rather than less. */
export const sizeOf = ({ spec: { vcpu, memory, swap } }: Pick<KupenStackMachine, 'spec'>): Size => ({
  vcpus: vcpu,
  ram: mebibytes(memory),
  swap: mebibytes(swap),
});

/**
 * The flavor for a machine: ours of that size, made where it is missing. Who may make none (nova 26: 403 for a member) takes any
 * other of the very size.
 */
export function flavorFor(
  machine: KupenStackMachine,
  flavors: readonly Flavor[],
  refusals: Refusals,
): { flavor: Flavor } | { missing: ReturnType<typeof createFlavor> } | { refused: Cause } {
  const size = sizeOf(machine);
  const ours = flavors.find((flavor) => flavor.name === flavorName(size) && hasSize(flavor, size));
  if (ours) return { flavor: ours };
  const request = createFlavor(size);
  const refused = refusalOf(refusals, machine, request);
  if (!refused) return { missing: request };
  const other = flavors.find((flavor) => hasSize(flavor, size) && flavor.disk === 0);
  if (other) return { flavor: other };
  const message = `There is no flavor of ${size.vcpus} vcpus, ${size.ram} MiB memory, ${size.swap} MiB swap and disk 0, and this account may not make one (${refused.message}).`;
  return { refused: refused.reason === 'Forbidden' ? { reason: 'FlavorMissing', message } : refused };
}
