import { addressIn, broadcastOf, type Cidr, cidrIn, contains, overlap } from '../cidr.ts';
import type { Subnet } from './kinds.ts';

/** Ranges that no network may have, in kube-ovn's words. */
const reserved: [string, string][] = [
  ['v4 broadcast', '255.255.255.255/32'],
  ['v4 multicast', '224.0.0.0/4'],
  ['v4 loopback', '127.0.0.1/8'],
  ['v4 localnet', '0.0.0.0/32'],
  ['v4 link local', '169.254.0.0/16'],
];

/** Why kube-ovn refuses a Subnet by itself (v1.15 pkg/util/validator.go), as far as a range, gateway and exceptions go. */
export function refusalOf({ metadata, spec }: Subnet): string | undefined {
  const { cidrBlock = '', gateway = '', excludeIps = [], vpc } = spec;
  const cidrs = cidrBlock.split(',').flatMap((text) => cidrIn(text) ?? []);
  for (const each of gateway.split(',').filter(Boolean)) {
    const address = addressIn(each);
    const cidr = address && cidrs.find((range) => contains(range, address));
    if (!address || !cidr) return `gateway ${gateway} is not in cidr ${cidrBlock}`;
    const why = edgeOf(cidr, each, address.value);
    if (why !== undefined) return `validate gateway ${gateway} for cidr ${cidrBlock} failed: ${why}`;
  }
  for (const [what, text] of reserved) {
    const range = cidrIn(text);
    if (range && cidrs.some((cidr) => overlap(cidr, range))) return `${cidrBlock} conflict with ${what} cidr ${text}`;
  }
  for (const range of excludeIps) {
    const parts = range.split('..');
    if (parts.length > 2) return `${range} in excludeIps is not a valid ip range`;
    const wrong = parts.find((part) => !addressIn(part));
    if (wrong !== undefined) return `ip ${wrong} in excludeIps is not a valid address`;
  }
  return vpc === metadata.name ? `subnet ${metadata.name} and vpc ${vpc} cannot have the same name` : undefined;
}

function edgeOf(cidr: Cidr, text: string, value: bigint): string | undefined {
  if (cidr.prefix === cidr.bits) return `subnet ${cidr.text} is configured with /32 or /128 netmask`;
  if (cidr.bits === 32 && broadcastOf(cidr) === value) return `${text} is the broadcast ip in cidr ${cidr.text}`;
  return cidr.value === value ? `${text} is the network number ip in cidr ${cidr.text}` : undefined;
}

/** The Subnet of the same Vpc that has some of these addresses already, in kube-ovn's words. */
export function conflictOf({ metadata, spec }: Subnet, others: readonly Subnet[]): string | undefined {
  const own = rangesOf(spec.cidrBlock);
  const rival = others.find(
    (other) =>
      other.metadata.name !== metadata.name &&
      other.spec.vpc === spec.vpc &&
      (other.spec.vlan ?? '') === (spec.vlan ?? '') &&
      rangesOf(other.spec.cidrBlock).some((range) => own.some((cidr) => overlap(range, cidr))),
  );
  return (
    rival &&
    `subnet ${metadata.name} cidr ${spec.cidrBlock} is conflict with subnet ${rival.metadata.name} cidr ${rival.spec.cidrBlock}`
  );
}

const rangesOf = (cidrBlock = '') => cidrBlock.split(',').flatMap((text) => cidrIn(text) ?? []);
