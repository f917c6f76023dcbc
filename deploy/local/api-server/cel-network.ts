import { isIPv4, isIPv6 } from 'node:net';
import type { Environment } from '@marcbachmann/cel-js';

/** Adds Kubernetes' IP and CIDR libraries. */
export function addNetworks(environment: Environment): void {
  addAddresses(environment);
  addPrefixes(environment);
}

function addAddresses(environment: Environment) {
  const isIn = (...prefixes: string[]) => {
    const all = prefixes.map(toPrefix);
    return (ip: Address) => all.some((prefix) => holds(prefix, ip));
  };
  const isUnspecified = isIn('0.0.0.0/32', '::/128');
  const isLoopback = isIn('127.0.0.0/8', '::1/128');
  const isLinkLocal = isIn('169.254.0.0/16', 'fe80::/10');
  const isMulticast = isIn('224.0.0.0/4', 'ff00::/8');
  const isBroadcast = isIn('255.255.255.255/32');
  environment
    .registerType('net.IP', { ctor: Address })
    .registerFunction('ip(string): net.IP', toAddress)
    .registerFunction('isIP(string): bool', (text: string) => parseAddress(text) !== undefined)
    .registerFunction('string(net.IP): string', (ip: Address) => ip.text)
    .registerFunction('net.IP.family(): int', (ip: Address) => (ip.bits === 32 ? 4n : 6n))
    .registerFunction('net.IP.isUnspecified(): bool', isUnspecified)
    .registerFunction('net.IP.isLoopback(): bool', isLoopback)
    .registerFunction('net.IP.isLinkLocalUnicast(): bool', isLinkLocal)
    .registerFunction('net.IP.isLinkLocalMulticast(): bool', isIn('224.0.0.0/24', 'ff02::/16'))
    .registerFunction(
      'net.IP.isGlobalUnicast(): bool',
      (ip: Address) => ![isUnspecified, isLoopback, isLinkLocal, isMulticast, isBroadcast].some((is) => is(ip)),
    )
    .registerOperator('net.IP == net.IP', (a: Address, b: Address) => a.text === b.text)
    .registerType('IPLibrary', { ctor: IPLibrary })
    .registerConstant('ip', 'IPLibrary', new IPLibrary())
    .registerFunction(
      'IPLibrary.isCanonical(string): bool',
      (_ip: unknown, text: string) => toAddress(text).text === text,
    );
}

function addPrefixes(environment: Environment) {
  environment
    .registerType('net.CIDR', { ctor: Prefix })
    .registerFunction('cidr(string): net.CIDR', toPrefix)
    .registerFunction('isCIDR(string): bool', (text: string) => parsePrefix(text) !== undefined)
    .registerFunction('string(net.CIDR): string', textOf)
    .registerFunction('net.CIDR.ip(): net.IP', (prefix: Prefix) => prefix.ip)
    .registerFunction('net.CIDR.prefixLength(): int', (prefix: Prefix) => BigInt(prefix.length))
    .registerFunction('net.CIDR.masked(): net.CIDR', masked)
    .registerFunction('net.CIDR.containsIP(net.IP): bool', holds)
    .registerFunction('net.CIDR.containsIP(string): bool', (prefix: Prefix, ip: string) => holds(prefix, toAddress(ip)))
    .registerFunction('net.CIDR.containsCIDR(net.CIDR): bool', holdsAll)
    .registerFunction('net.CIDR.containsCIDR(string): bool', (a: Prefix, b: string) => holdsAll(a, toPrefix(b)))
    .registerOperator('net.CIDR == net.CIDR', (a: Prefix, b: Prefix) => textOf(a) === textOf(b));
}

class IPLibrary {}

class Address {
  readonly value: bigint;
  readonly bits: 32 | 128;
  /** In canonical form. */
  readonly text: string;
  constructor(value: bigint, bits: 32 | 128, text: string) {
    this.value = value;
    this.bits = bits;
    this.text = text;
  }
}

class Prefix {
  readonly ip: Address;
  readonly length: number;
  constructor(ip: Address, length: number) {
    this.ip = ip;
    this.length = length;
  }
}

function toAddress(text: string): Address {
  const ip = parseAddress(text);
  if (!ip) throw new Error(`IP Address ${JSON.stringify(text)} parse error during conversion from string`);
  return ip;
}

function toPrefix(text: string): Prefix {
  const prefix = parsePrefix(text);
  if (!prefix) throw new Error(`network address parse error during conversion from string: ${JSON.stringify(text)}`);
  return prefix;
}

function parseAddress(text: string): Address | undefined {
  if (isIPv4(text)) return new Address(join(text.split('.'), 10, 8n), 32, text);
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const canonical = new URL(`http://[${text}]`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const front = head.split(':').filter((group) => group !== '');
  const back = (tail ?? '').split(':').filter((group) => group !== '');
  const zeros = new Array<string>(8 - front.length - back.length).fill('0');
  const value = join([...front, ...zeros, ...back], 16, 16n);
  // An IPv4 address in IPv6 clothes is refused.
  return value >> 32n === 0xffffn ? undefined : new Address(value, 128, canonical);
}

const join = (groups: string[], radix: number, width: bigint) =>
  groups.reduce((value, group) => (value << width) | BigInt(Number.parseInt(group, radix)), 0n);

function parsePrefix(text: string): Prefix | undefined {
  const [, address = '', length = ''] = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const ip = parseAddress(address);
  return ip && Number(length) <= ip.bits ? new Prefix(ip, Number(length)) : undefined;
}

const networkOf = (ip: Address, length: number) => ip.value >> BigInt(ip.bits - length);

const holds = ({ ip, length }: Prefix, other: Address) =>
  ip.bits === other.bits && networkOf(ip, length) === networkOf(other, length);

const holdsAll = (outer: Prefix, inner: Prefix) => inner.length >= outer.length && holds(outer, inner.ip);

const textOf = ({ ip, length }: Prefix) => `${ip.text}/${length}`;

function masked({ ip, length }: Prefix): Prefix {
  const value = networkOf(ip, length) << BigInt(ip.bits - length);
  const width = ip.bits === 32 ? 8n : 16n;
  const groups = Array.from({ length: ip.bits / Number(width) }, (_, index) => {
    const group = (value >> (BigInt(ip.bits) - width * BigInt(index + 1))) & ((1n << width) - 1n);
    return group.toString(ip.bits === 32 ? 10 : 16);
  });
  return new Prefix(toAddress(groups.join(ip.bits === 32 ? '.' : ':')), length);
}
