import { addressIn, broadcastOf, type Cidr, cidrIn, contains, textOf } from '../../cidr.ts';
import { Refusal } from '../refusal.ts';
import { neutronRefusals } from './refusals.ts';
import type { FixedIp, Pool, Subnet } from './state.ts';

/** The pools of a subnet that does not say which: all of it but its own address, the broadcast and the gateway (neutron's ipam). */
export function defaultPools(range: Cidr, gateway: string | null): Pool[] {
  const isSmall = range.prefix >= range.bits - 1;
  const first = isSmall ? range.value : range.value + 1n;
  const last = range.bits === 32 && !isSmall ? broadcastOf(range) - 1n : broadcastOf(range);
  const left = gateway === null ? undefined : addressIn(gateway)?.value;
  const spans =
    left === undefined || left < first || left > last
      ? [[first, last]]
      : [
          [first, left - 1n],
          [left + 1n, last],
        ];
  return spans
    .filter(([from = 0n, to = 0n]) => from <= to)
    .map(([from = 0n, to = 0n]) => ({ start: textOf(from, range.bits), end: textOf(to, range.bits) }));
}

/** The gateway where none is named: the first address, which in IPv6 is the range's own (neutron 21). */
export const defaultGateway = ({ value, bits }: Cidr) => textOf(bits === 32 ? value + 1n : value, bits);

/** Refuses the addresses that are the range's own; one outside of it may be a gateway. */
export function checkGateway(gateway: string | null, range: Cidr): void {
  const value = gateway === null ? undefined : numberOf(gateway);
  if (range.bits === 32 && range.prefix < 31 && (value === range.value || value === broadcastOf(range)))
    throw neutronRefusals.invalid('Gateway is not valid on subnet');
}

/** Refuses pools that are no pools of this subnet: turned round or outside 400, over each other or over the gateway 409. */
export function checkPools(pools: readonly Pool[], range: Cidr, gateway: string | null): void {
  const spans = pools.map((pool) => ({ pool, from: numberOf(pool.start), to: numberOf(pool.end) }));
  for (const { pool, from, to } of spans) {
    if (from === undefined || to === undefined || from > to)
      throw new Refusal(
        400,
        `The allocation pool {'start': '${pool.start}', 'end': '${pool.end}'} is not valid.`,
        'InvalidAllocationPool',
      );
    if (
      !isIn(range, pool.start) ||
      !isIn(range, pool.end) ||
      from === range.value ||
      (range.bits === 32 && to === broadcastOf(range))
    )
      throw new Refusal(
        400,
        `The allocation pool ${pool.start}-${pool.end} spans beyond the subnet cidr ${range.text}.`,
        'OutOfBoundsAllocationPool',
      );
  }
  const sorted = spans.toSorted((a, b) => ((a.from ?? 0n) < (b.from ?? 0n) ? -1 : 1));
  for (const [index, { pool, to }] of sorted.entries()) {
    const next = sorted[index + 1];
    if (next && (next.from ?? 0n) <= (to ?? 0n))
      throw new Refusal(
        409,
        `Found overlapping allocation pools: ${pool.start}-${pool.end} ${next.pool.start}-${next.pool.end} for subnet ${range.text}.`,
        'OverlappingAllocationPools',
      );
  }
  checkGatewayAmong(pools, gateway);
}

function checkGatewayAmong(pools: readonly Pool[], gateway: string | null) {
  const met = gateway === null ? undefined : pools.find((pool) => isBetween(pool, gateway));
  if (met)
    throw new Refusal(
      409,
      `Gateway ip ${gateway} conflicts with allocation pool ${met.start}-${met.end}.`,
      'GatewayConflictWithAllocationPools',
    );
}

/** The lowest free address of the pools; undefined if all are in use. */
export function freeAddress({ allocation_pools, ip_version }: Subnet, taken: ReadonlySet<string>): string | undefined {
  const bits = ip_version === 4 ? 32 : 128;
  for (const { start, end } of allocation_pools) {
    const last = numberOf(end) ?? -1n;
    for (let value = numberOf(start) ?? 0n; value <= last; value++) {
      const text = textOf(value, bits);
      if (!taken.has(text)) return text;
    }
  }
  return undefined;
}

/** Whether a requested address can belong to that subnet. */
export function isUsable({ cidr }: Subnet, address: string): boolean {
  const range = cidrIn(cidr);
  const value = numberOf(address);
  if (!range || value === undefined || !isIn(range, address)) return false;
  return range.bits === 128 || range.prefix >= 31 || (value !== range.value && value !== broadcastOf(range));
}

export const addressesIn = (subnet: string, ports: Iterable<{ fixed_ips: readonly FixedIp[] }>) =>
  new Set(
    [...ports].flatMap(({ fixed_ips }) =>
      fixed_ips.filter(({ subnet_id }) => subnet_id === subnet).map(({ ip_address }) => ip_address),
    ),
  );

const isIn = (range: Cidr, address: string) => {
  const found = addressIn(address);
  return found !== undefined && contains(range, found);
};

const isBetween = ({ start, end }: Pool, address: string) => {
  const [from, value, to] = [numberOf(start), numberOf(address), numberOf(end)];
  return from !== undefined && value !== undefined && to !== undefined && from <= value && value <= to;
};

const numberOf = (text: string) => addressIn(text)?.value;
