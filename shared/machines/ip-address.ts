import ipaddr from 'ipaddr.js';

/** An address with the length of its network, as one number. */
export interface Cidr {
  version: 4 | 6;
  address: bigint;
  length: number;
}

/** Reads "10.10.0.161/24" or "fd00::5/64"; undefined for any other text. */
export function parseCidr(text: string): Cidr | undefined {
  const [ip = '', bits = '', ...rest] = text.split('/');
  const found = parseIp(ip);
  const length = Number(bits);
  if (!found || rest.length > 0 || !/^\d{1,3}$/.test(bits) || length > widthOf(found.version)) return undefined;
  return { ...found, length };
}

/** Reads an address alone; undefined for any other text. An IPv4 address may be written as IPv6 has it (::ffff:10.0.0.1). */
export function parseIp(text: string): Pick<Cidr, 'version' | 'address'> | undefined {
  const isWritten = ipaddr.IPv4.isValidFourPartDecimal(text) || (ipaddr.IPv6.isValid(text) && !text.includes('%'));
  if (!isWritten) return undefined;
  const ip = ipaddr.process(text);
  const address = BigInt(`0x${Buffer.from(ip.toByteArray()).toString('hex')}`);
  return { version: ip.kind() === 'ipv4' ? 4 : 6, address };
}

/** Writes an address as RFC 5952 has it: 10.10.0.161, or fd00::5. */
export function formatIp({ version, address }: Pick<Cidr, 'version' | 'address'>): string {
  const bytes = Buffer.from(address.toString(16).padStart(widthOf(version) / 4, '0'), 'hex');
  const ip = ipaddr.fromByteArray([...bytes]);
  return ip instanceof ipaddr.IPv6 ? ip.toRFC5952String() : ip.toString();
}

/** Why no machine can have this address, or undefined. */
export function unusable({ version, address, length }: Cidr): string | undefined {
  const hosts = BigInt(widthOf(version) - length);
  const isPointToPoint = hosts <= 1n;
  const host = address & ((1n << hosts) - 1n);
  if (!isPointToPoint && host === 0n) return 'that is the address of the network itself';
  if (version === 6) return address >> 120n === 0xffn ? 'that is a multicast address' : undefined;
  if (!isPointToPoint && host === (1n << hosts) - 1n) return 'that is the broadcast address of the network';
  const first = Number(address >> 24n);
  if (first === 0 || first === 127) return 'that address is reserved for the machine itself';
  return first >= 224 ? 'that is a multicast or reserved address' : undefined;
}

export const isInNetworkOf = (cidr: Cidr, other: Pick<Cidr, 'version' | 'address'>) => {
  const hosts = BigInt(widthOf(cidr.version) - cidr.length);
  return cidr.version === other.version && cidr.address >> hosts === other.address >> hosts;
};

const widthOf = (version: 4 | 6) => (version === 4 ? 32 : 128);
