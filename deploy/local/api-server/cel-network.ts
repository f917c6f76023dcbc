import { isIPv4, isIPv6 } from 'node:net';
import type { Environment } from '@marcbachmann/cel-js';

/** Adds of Kubernetes' IP and CIDR libraries what the definitions of this project ask. */
export function addNetworks(environment: Environment): void {
  addAddresses(environment);
  addPrefixes(environment);
}

function addAddresses(environment: Environment) {
  const isIn = (...prefixes: string[]) => {
    const all = prefixes.map(toPrefix);
    return (ip: Address) => all.some((prefix) => holds(prefix, ip));
  };
  environment
    .registerType('net.IP', { ctor: Address })
    .registerFunction('ip(string): net.IP', toAddress)
    .registerFunction('isIP(string): bool', (text: string) => parseAddress(text) !== undefined)
    .registerFunction('net.IP.isUnspecified(): bool', isIn('0.0.0.0/32', '::/128'))
    .registerFunction('net.IP.isLoopback(): bool', isIn('127.0.0.0/8', '::1/128'));
}

function addPrefixes(environment: Environment) {
  environment
    .registerType('net.CIDR', { ctor: Prefix })
    .registerFunction('cidr(string): net.CIDR', toPrefix)
    .registerFunction('isCIDR(string): bool', (text: string) => parsePrefix(text) !== undefined)
    .registerFunction('net.CIDR.ip(): net.IP', (prefix: Prefix) => prefix.ip)
    .registerFunction('net.CIDR.prefixLength(): int', (prefix: Prefix) => BigInt(prefix.length))
    .registerFunction('net.CIDR.containsIP(net.IP): bool', holds)
    .registerFunction('net.CIDR.containsIP(string): bool', (prefix: Prefix, ip: string) =>
      holds(prefix, toAddress(ip)),
    );
}

class Address {
  readonly value: bigint;
  readonly bits: 32 | 128;
  constructor(value: bigint, bits: 32 | 128) {
    this.value = value;
    this.bits = bits;
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
  if (isIPv4(text)) return new Address(join(text.split('.'), 10, 8n), 32);
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const canonical = new URL(`http://[${text}]`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const front = head.split(':').filter((group) => group !== '');
  const back = (tail ?? '').split(':').filter((group) => group !== '');
  const zeros = new Array<string>(8 - front.length - back.length).fill('0');
  const value = join([...front, ...zeros, ...back], 16, 16n);
  // An IPv4 address in IPv6 clothes is refused.
  return value >> 32n === 0xffffn ? undefined : new Address(value, 128);
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
