import type { Environment } from '@marcbachmann/cel-js';
import { type Address, addressIn, type Cidr, cidrIn, contains } from '../cidr.ts';

/** Adds of Kubernetes' IP and CIDR libraries what the definitions of this project ask. */
export function addNetworks(environment: Environment): void {
  environment
    .registerType('net.IP', { ctor: IP })
    .registerFunction('ip(string): net.IP', toIP)
    .registerFunction('isIP(string): bool', (text: string) => parseIP(text) !== undefined)
    .registerFunction('net.IP.isUnspecified(): bool', isIn('0.0.0.0/32', '::/128'))
    .registerFunction('net.IP.isLoopback(): bool', isIn('127.0.0.0/8', '::1/128'))
    .registerType('net.CIDR', { ctor: Prefix })
    .registerFunction('cidr(string): net.CIDR', toPrefix)
    .registerFunction('isCIDR(string): bool', (text: string) => parsePrefix(text) !== undefined)
    .registerFunction('net.CIDR.ip(): net.IP', ({ ip }: Prefix) => ip)
    .registerFunction('net.CIDR.prefixLength(): int', ({ range }: Prefix) => BigInt(range.prefix))
    .registerFunction('net.CIDR.containsIP(net.IP): bool', ({ range }: Prefix, { address }: IP) =>
      contains(range, address),
    )
    .registerFunction('net.CIDR.containsIP(string): bool', ({ range }: Prefix, ip: string) =>
      contains(range, toIP(ip).address),
    );
}

class IP {
  readonly address: Address;
  constructor(address: Address) {
    this.address = address;
  }
}

class Prefix {
  readonly ip: IP;
  readonly range: Cidr;
  constructor(ip: IP, range: Cidr) {
    this.ip = ip;
    this.range = range;
  }
}

function isIn(...texts: string[]) {
  const ranges = texts.map((text) => toPrefix(text).range);
  return ({ address }: IP) => ranges.some((range) => contains(range, address));
}

function toIP(text: string): IP {
  const ip = parseIP(text);
  if (!ip) throw new Error(`IP Address ${JSON.stringify(text)} parse error during conversion from string`);
  return ip;
}

function toPrefix(text: string): Prefix {
  const prefix = parsePrefix(text);
  if (!prefix) throw new Error(`network address parse error during conversion from string: ${JSON.stringify(text)}`);
  return prefix;
}

/** An IPv4 address in IPv6 clothes is refused. */
function parseIP(text: string): IP | undefined {
  const address = addressIn(text);
  return address && !(address.bits === 32 && text.includes(':')) ? new IP(address) : undefined;
}

function parsePrefix(text: string): Prefix | undefined {
  const [, own = ''] = /^([^/]+)\/(?:0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const ip = parseIP(own);
  const range = cidrIn(text);
  return ip && range && new Prefix(ip, range);
}
