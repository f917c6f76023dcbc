import { createPrivateKey, createPublicKey, hkdfSync } from 'node:crypto';

/** A key pair of ssh, as OpenSSH's files have them. */
export interface SshKey {
  /** With its header and a line end. */
  privateKey: string;
  /** Type and key: a line of authorized_keys without comment. */
  publicKey: string;
}

const type = 'ssh-ed25519';

/** The Ed25519 key that follows from a secret for one purpose: always the same one, and of no use for guessing that of another. */
export function derivedKey(secret: Buffer, ...purpose: readonly string[]): SshKey {
  const seed = Buffer.from(hkdfSync('sha256', secret, '', purpose.join('\u0000'), 32));
  const publicBytes = publicBytesOf(seed);
  const publicKey = Buffer.concat([text(type), text(publicBytes)]);
  return {
    privateKey: privateFile(seed, publicBytes, publicKey),
    publicKey: `${type} ${publicKey.toString('base64')}`,
  };
}

/** RFC 8410, section 7: the bytes before the 32 bytes of an Ed25519 key in PKCS#8. */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex');

function publicBytesOf(seed: Buffer): Buffer {
  const key = createPrivateKey({ key: Buffer.concat([pkcs8, seed]), format: 'der', type: 'pkcs8' });
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32);
}

/** The only format that every OpenSSH reads an Ed25519 key in (openssh-portable, PROTOCOL.key); not encrypted. */
function privateFile(seed: Buffer, publicBytes: Buffer, publicKey: Buffer): string {
  // Two equal numbers, by which it is seen that decryption worked, then the key, its comment, and 1, 2, 3 … up to 8-byte blocks.
  const inner = [Buffer.alloc(8), text(type), text(publicBytes), text(Buffer.concat([seed, publicBytes])), text('')];
  const length = Buffer.concat(inner).length;
  const padding = Buffer.from([1, 2, 3, 4, 5, 6, 7].slice(0, (8 - (length % 8)) % 8));
  const file = [
    Buffer.from('openssh-key-v1\u0000'),
    ...['none', 'none', ''].map(text),
    number(1),
    text(publicKey),
    text(Buffer.concat([...inner, padding])),
  ];
  const lines =
    Buffer.concat(file)
      .toString('base64')
      .match(/.{1,70}/g) ?? [];
  return ['-----BEGIN OPENSSH PRIVATE KEY-----', ...lines, '-----END OPENSSH PRIVATE KEY-----', ''].join('\n');
}

/** RFC 4251, section 5: uint32 and string. */
function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
const text = (value: string | Buffer) => {
  const bytes = Buffer.from(value as string);
  return Buffer.concat([number(bytes.length), bytes]);
};
