import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** A certificate that vouches for itself, as PEM: `cert` is also the CA to trust it by. */
interface TestCertificate {
  cert: string;
  key: string;
}

const day = 86_400_000;

/** Makes a certificate for these IPv4 addresses (RFC 5280 in the fewest words), good from yesterday until tomorrow. */
export function testCertificate(...addresses: string[]): TestCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(set(sequence(oid('550403'), tlv(0x0c, Buffer.from('test')))));
  const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));
  const alternatives = sequence(...addresses.map((ip) => tlv(0x87, Buffer.from(ip.split('.').map(Number)))));
  const toBeSigned = sequence(
    tlv(0xa0, integer(Buffer.of(2))),
    integer(Buffer.concat([Buffer.of(1), randomBytes(8)])),
    ecdsaWithSha256,
    name,
    sequence(utcTime(Date.now() - day), utcTime(Date.now() + day)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, sequence(sequence(oid('551d11'), tlv(0x04, alternatives)))),
  );
  const der = sequence(
    toBeSigned,
    ecdsaWithSha256,
    tlv(0x03, Buffer.concat([Buffer.of(0), signed(toBeSigned, privateKey)])),
  );
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  const cert = ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
  return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

const signed = (data: Buffer, key: KeyObject) => sign('sha256', data, key);

function tlv(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.of(tag, ...size), content]);
}

const sequence = (...parts: Buffer[]) => tlv(0x30, Buffer.concat(parts));
const set = (...parts: Buffer[]) => tlv(0x31, Buffer.concat(parts));
const oid = (hex: string) => tlv(0x06, Buffer.from(hex, 'hex'));
const integer = (bytes: Buffer) => tlv(0x02, bytes);
const utcTime = (ms: number) =>
  tlv(0x17, Buffer.from(`${new Date(ms).toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`));
