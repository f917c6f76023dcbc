import { formatReference } from '../../../shared/images/references.ts';
import type { Interface, VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { keyOf } from '../../../shared/kinds/resource.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { isInNetworkOf, parseCidr, parseIp, unusable } from '../../../shared/machines/ip-address.ts';
import { final, type Obstacle } from '../observed.ts';
import { macAddressOf } from './mac-address.ts';

/** An interface with everything about it that follows from its network. */
export interface Nic {
  /** What KubeVirt calls interface and network. */
  name: string;
  /** What the guest calls it: Linux takes 15 characters. */
  guestName: string;
  /** The NetworkAttachmentDefinition. */
  attachment: { namespace: string; name: string };
  mac: string;
  spec: Interface;
}

const longestGuestName = 15;

/** The interfaces of a machine, each under names of its own. */
export function nicsOf({ metadata, spec }: VirtualMachine): Nic[] {
  const names = new Set<string>();
  const guestNames = new Set<string>();
  return (spec.interfaces ?? []).map((one, index) => {
    const attachment = attachmentOf(metadata.namespace, one);
    const plain = attachment.name.replaceAll('.', '-').slice(0, 50);
    return {
      name: unlessTaken(names, plain, `${plain}-${index}`),
      guestName: unlessTaken(
        guestNames,
        plain.length <= longestGuestName ? plain : `${plain.slice(0, longestGuestName - 3)}-${index}`,
        `net${index}`,
      ),
      attachment,
      mac: macAddressOf(metadata.namespace ?? '', metadata.name, keyOf(attachment)),
      spec: one,
    };
  });
}

const attachmentOf = (own = '', { network }: Interface) => {
  const [first = '', second] = network.split('/');
  return second === undefined ? { namespace: own, name: first } : { namespace: first, name: second };
};

function unlessTaken(taken: Set<string>, name: string, otherwise: string) {
  const chosen = taken.has(name) ? otherwise : name;
  taken.add(chosen);
  return chosen;
}

/** An address or gateway that cannot be. */
export function addressFault(machine: VirtualMachine): Obstacle | undefined {
  const attachments = new Set<string>();
  for (const { attachment, spec } of nicsOf(machine)) {
    const key = keyOf(attachment);
    if (attachments.has(key)) {
      return final('NetworkNamedTwice', `Expected each network once, found ${key} twice; take one of the two out.`);
    }
    attachments.add(key);
    const why = faultOf(spec);
    if (why) return final('AddressNotUsable', `${why} on network ${spec.network}; correct it or take it out.`);
  }
  return undefined;
}

function faultOf({ ipAddress, gateway }: Interface): string | undefined {
  const cidr = ipAddress === undefined ? undefined : parseCidr(ipAddress);
  if (ipAddress !== undefined) {
    const why = cidr ? unusable(cidr) : 'that is no address with the length of its network';
    if (why) return `Expected an address that a machine can have, found ${ipAddress}: ${why},`;
  }
  if (gateway === undefined) return undefined;
  const way = parseIp(gateway);
  if (!cidr) return `Expected an ipAddress beside gateway ${gateway}, found none`;
  if (!way || !isInNetworkOf(cidr, way)) return `Expected a gateway in the network of ${ipAddress}, found ${gateway}`;
  return way.address === cidr.address
    ? `Expected another machine for gateway, found its own address ${gateway}`
    : undefined;
}

/** An address that another machine has on the same network: the running machine keeps it, else the older. */
export function addressInUse(machine: VirtualMachine, neighbours: readonly VirtualMachine[]): Obstacle | undefined {
  const others = neighbours.filter(({ metadata }) => metadata.uid !== machine.metadata.uid);
  for (const own of fixedAddressesOf(machine)) {
    const rival = others.find((other) =>
      fixedAddressesOf(other).some((theirs) => theirs.key === own.key && keepsBefore(other, theirs, machine, own)),
    );
    if (!rival) continue;
    const isOurs = rival.metadata.namespace === machine.metadata.namespace;
    const found = isOurs ? `machine ${formatReference(rival)}` : 'a machine of another namespace';
    return final(
      'AddressInUse',
      `Expected ${own.text} on network ${own.network} to be free, found ${found} there; give one of the two another.`,
    );
  }
  return undefined;
}

/** The machine was refused an address that another one has, and does not have it. */
export const wasRefusedAddress = ({ status }: VirtualMachine) =>
  ['Ready', 'RestartRequired'].some((type) => conditionOf(status?.conditions, type)?.reason === 'AddressInUse');

interface Address {
  text: string;
  /** Without the length of its network. */
  bare: string;
  /** The network as the spec says it. */
  network: string;
  key: string;
}

export const fixedAddressesOf = (machine: VirtualMachine): Address[] =>
  nicsOf(machine).flatMap(({ attachment, spec }) => {
    const cidr = spec.ipAddress === undefined ? undefined : parseCidr(spec.ipAddress);
    if (!cidr || spec.ipAddress === undefined) return [];
    const key = `${keyOf(attachment)}/${cidr.version}/${cidr.address}`;
    const [bare = ''] = spec.ipAddress.split('/');
    return [{ text: spec.ipAddress, bare, network: spec.network, key }];
  });

function keepsBefore(other: VirtualMachine, theirs: Address, machine: VirtualMachine, own: Address): boolean {
  const theyHave = has(other, theirs);
  if (theyHave !== has(machine, own)) return theyHave;
  const age = ({ metadata }: VirtualMachine) => `${metadata.creationTimestamp} ${metadata.uid}`;
  return age(other) < age(machine);
}

/** The machine was made with this address, or runs with it. */
const has = (machine: VirtualMachine, { network, bare }: Address) => {
  const { fixedAddresses = [], addresses = [] } = machine.status ?? {};
  const isIt = (one: { network: string; ipAddress?: string | undefined }) =>
    one.network === network && one.ipAddress === bare;
  return (fixedAddresses.some(isIt) || addresses.some(isIt)) && !wasRefusedAddress(machine);
};
