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

/** Reads an address alone; undefined for any other text. */
export function parseIp(text: string): Pick<Cidr, 'version' | 'address'> | undefined {
  const address = text.includes(':') ? parseIpv6(text) : parseIpv4(text);
  return address === undefined ? undefined : { version: text.includes(':') ? 6 : 4, address };
}

/** Writes an address: 10.10.0.161, or fd00:0:0:0:0:0:0:5. */
export function formatIp({ version, address }: Pick<Cidr, 'version' | 'address'>): string {
  const [parts, bits] = version === 4 ? [4, 8n] : [8, 16n];
  const groups = Array.from(
    { length: parts },
    (_, index) => (address >> (BigInt(parts - 1 - index) * bits)) % (1n << bits),
  );
  return version === 4 ? groups.join('.') : groups.map((group) => group.toString(16)).join(':');
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

/** True where the other address is in the network of this one. */
export const isInNetworkOf = (cidr: Cidr, other: Pick<Cidr, 'version' | 'address'>) => {
  const hosts = BigInt(widthOf(cidr.version) - cidr.length);
  return cidr.version === other.version && cidr.address >> hosts === other.address >> hosts;
};

const widthOf = (version: 4 | 6) => (version === 4 ? 32 : 128);

function parseIpv4(text: string): bigint | undefined {
  const parts = text.split('.');
  const isWritten = parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256);
  return isWritten ? parts.reduce((sum, part) => (sum << 8n) + BigInt(part), 0n) : undefined;
}

function parseIpv6(text: string): bigint | undefined {
  const [before = '', after, ...more] = text.split('::');
  if (more.length > 0) return undefined;
  const head = before === '' ? [] : before.split(':');
  const tail = after === undefined || after === '' ? [] : after.split(':');
  const missing = 8 - head.length - tail.length;
  if (after === undefined ? missing !== 0 : missing < 1) return undefined;
  const groups = [...head, ...Array.from({ length: missing }, () => '0'), ...tail];
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined;
  return groups.reduce((sum, group) => (sum << 16n) + BigInt(`0x${group}`), 0n);
}
