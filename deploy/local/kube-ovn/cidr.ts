import { isIPv4, isIPv6 } from 'node:net';

/** An address as a number, with the width of its family. */
interface Address {
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
  if (isIPv4(text)) return { value: ofParts(text.split('.').map(Number), 8), bits: 32 };
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const [head = '', tail] = text.split('::');
  const left = groups(head);
  const right = tail === undefined ? [] : groups(tail);
  const zeros = Array<number>(8 - left.length - right.length).fill(0);
  return { value: ofParts([...left, ...zeros, ...right], 16), bits: 128 };
}

const ofParts = (parts: number[], bits: number) =>
  parts.reduce((value, part) => (value << BigInt(bits)) | BigInt(part), 0n);

const groups = (text: string) =>
  text
    .split(':')
    .filter(Boolean)
    .flatMap((group) => {
      if (!group.includes('.')) return [Number.parseInt(group, 16)];
      const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
      return [(a << 8) | b, (c << 8) | d];
    });

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

export function textOf(value: bigint, bits: number): string {
  if (bits === 32) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');
  const parts = Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16));
  const text = parts.join(':');
  const [longest] = [...text.matchAll(/(?:^|:)0(?::0)+(?=:|$)/g)]
    .map(([found]) => found)
    .sort((a, b) => b.length - a.length);
  return longest === undefined
    ? text
    : text.replace(longest, longest === text ? '::' : ':').replace(/^:(?!:)|(?<!:):$/, '::');
}
