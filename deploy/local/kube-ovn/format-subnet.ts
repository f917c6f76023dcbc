import { addressIn, cidrIn, contains, firstIn } from '../cidr.ts';
import { isOvn, type Subnet, type SubnetSpec } from './kinds.ts';

const defaultVpc = 'ovn-cluster';

/**
 * A Subnet's spec as kube-ovn completes it (v1.15 pkg/controller/subnet.go, formatSubnet): it writes into the users' spec and list of
 * excluded addresses. Undefined for an invalid range, which kube-ovn does not report in the object.
 */
export function formatted(subnet: Subnet): SubnetSpec | undefined {
  const { spec } = subnet;
  const ranges = (spec.cidrBlock ?? '').split(',').map(cidrIn);
  if (ranges.some((range) => range === undefined)) return undefined;
  const cidrs = ranges.flatMap((range) => range ?? []);
  const gateway = spec.gateway || cidrs.map(firstIn).join(',');
  const provider = spec.provider || 'ovn';
  return {
    ...goZeros,
    ...spec,
    cidrBlock: cidrs.map(({ text }) => text).join(','),
    gateway,
    excludeIps: excluded(spec.excludeIps ?? [], gateway.split(',')),
    protocol: cidrs.length === 2 ? 'Dual' : cidrs[0]?.bits === 128 ? 'IPv6' : 'IPv4',
    provider,
    ...(spec.vpc || !isOvn(subnet) ? {} : { vpc: defaultVpc }),
    enableLb: spec.enableLb ?? true,
  };
}

/** What Go writes of a struct that leaves these out. */
const goZeros = { default: false, gatewayNode: '', natOutgoing: false, private: false };

/** No other address may be the gateway's. */
function excluded(given: readonly string[], gateways: readonly string[]): string[] {
  const missing = gateways.filter((gateway) => !given.some((range) => covers(range, gateway)));
  return missing.length === 0 ? [...given] : [...given, ...missing].sort();
}

/** Whether an address is in a range such as `10.10.0.1..10.10.0.9`, or equal to a single address. */
function covers(range: string, address: string): boolean {
  const [first = '', last = first] = range.split('..');
  const [from, to, found] = [addressIn(first), addressIn(last), addressIn(address)];
  if (!from || !to || !found || from.bits !== found.bits) return false;
  return from.value <= found.value && found.value <= to.value;
}

/** How many addresses of its range a Subnet keeps back. */
export const countExcluded = ({ cidrBlock = '', excludeIps = [] }: SubnetSpec, bits: 32 | 128) =>
  excludeIps.reduce((total, range) => {
    const [first = '', last = first] = range.split('..');
    const [from, to] = [addressIn(first), addressIn(last)];
    const isInside = cidrBlock.split(',').some((text) => {
      const cidr = cidrIn(text);
      return cidr && from && contains(cidr, from);
    });
    return from && to && from.bits === bits && isInside ? total + Number(to.value - from.value) + 1 : total;
  }, 0);
