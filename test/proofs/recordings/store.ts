import { execFileSync } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import { qcow2Buffer } from '../../../deploy/local/object-store/qcow2.ts';

const mebibyte = 1024 ** 2;
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** The key pair that the store accepts. */
export const keyPair = { accessKeyId: 'reader', secretKey: 'secret' };

/** The existing Secrets that DataVolumes of the recordings name. */
export const secrets: Record<string, Record<string, string>> = {
  's3-reader': { accessKeyId: base64('reader'), secretKey: base64('secret') },
  'bad-keys': { accessKeyId: base64('reader'), secretKey: base64('another') },
  'bad-id': { accessKeyId: base64('nobody'), secretKey: base64('secret') },
  badkeyname: { id: base64('reader'), secretKey: base64('secret') },
};

const image = (virtualBytes = 64 * mebibyte) => qcow2Buffer({ virtualBytes, dataBytes: mebibyte, seed: 'recorded' });
const raw = () => image().subarray(65_536);
const page = () => Buffer.from(`<html>${'<p>Not found</p>'.repeat(200)}</html>`);
const xz = (bytes: Buffer) => execFileSync('xz', ['--stdout'], { input: bytes, maxBuffer: 64 * mebibyte });

function corrupt(): Buffer {
  const bytes = image();
  // The table of reference counts, at the offset in the header.
  bytes.writeBigUInt64BE(0x7d8831a9ee256000n, Number(bytes.readBigUInt64BE(48)));
  return bytes;
}

/** The objects of the store of the recordings, by `bucket/key`, each as small as possible. */
export const objects: Record<string, () => Buffer> = {
  ...named(['good', 'small', 'slow', 'slow2', 'cut', 'stall'], 'images', image),
  ...named(['good', 'small', 'slow', 'cut2'], 'plain', image),
  ...named(['big'], 'images', () => image(4096 * mebibyte)),
  ...named(['big'], 'plain', () => image(4096 * mebibyte)),
  ...named(['page'], 'images', page),
  ...named(['page'], 'plain', page),
  'images/good.qcow2.gz': () => gzipSync(image()),
  'images/small.raw.xz': () => xz(raw()),
  'plain/small.raw.xz': () => xz(raw()),
  'images/trunc.qcow2': () => image().subarray(0, 700_000),
  'images/trunc.img.gz': () => truncated(gzipSync(raw())),
  'images/tiny.qcow2': () => Buffer.from('this is no image!\n'),
  'images/empty.qcow2': () => Buffer.alloc(0),
  'images/corrupt.qcow2': corrupt,
};

const truncated = (bytes: Buffer) => bytes.subarray(0, bytes.length / 2);

function named(names: string[], bucket: string, content: () => Buffer) {
  return Object.fromEntries(names.map((name) => [`${bucket}/${name}.qcow2`, content]));
}
