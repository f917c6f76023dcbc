import { formatIp, parseIp } from '../../shared/machines/ip-address.ts';

/** An address as a number, with the width of its family. */
export interface Address {
  value: bigint;
  bits: 32 | 128;
}

/** A range of addresses `10.10.0.0/24`, in numbers. */
export interface Cidr extends Address {
  prefix: number;
  /** With the part behind the prefix gone. */
  text: string;
}

export function addressIn(text: string): Address | undefined {
  const ip = parseIp(text);
  return ip && { value: ip.address, bits: ip.version === 4 ? 32 : 128 };
}

/** Undefined for what is no range of addresses. */
export function cidrIn(text: string): Cidr | undefined {
  const [first = '', length = '', ...rest] = text.split('/');
  const address = addressIn(first);
  const prefix = Number(length);
  if (!address || rest.length > 0 || !/^\d+$/.test(length) || prefix > address.bits) return undefined;
  const { bits } = address;
  const behind = BigInt(bits - prefix);
  const value = (address.value >> behind) << behind;
  return { value, bits, prefix, text: `${textOf(value, bits)}/${prefix}` };
}

/** How many addresses a range has but for its first and its last. */
export const countIn = ({ bits, prefix }: Cidr) => Math.max(0, Number(2n ** BigInt(bits - prefix)) - 2);

export const contains = (range: Cidr, address: Address) =>
  range.bits === address.bits &&
  address.value >> BigInt(range.bits - range.prefix) === range.value >> BigInt(range.bits - range.prefix);

export const overlap = (a: Cidr, b: Cidr) => contains(a, b) || contains(b, a);

/** The first address of a range that is not the range's own. */
export const firstIn = ({ value, bits }: Cidr) => textOf(value + 1n, bits);

/** The last one, which in IPv4 means all of them. */
export const broadcastOf = ({ value, bits, prefix }: Cidr) => value + 2n ** BigInt(bits - prefix) - 1n;

export const textOf = (address: bigint, bits: number) => formatIp({ version: bits === 32 ? 4 : 6, address });
