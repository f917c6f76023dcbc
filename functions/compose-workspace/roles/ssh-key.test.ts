import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { derivedKey } from './ssh-key.ts';

const secret = Buffer.alloc(32, 'a');

describe('a derived key', () => {
  test('is the same each time', () => {
    expect(derivedKey(secret, 'login', 'uid-1')).toEqual(derivedKey(Buffer.alloc(32, 'a'), 'login', 'uid-1'));
  });
  test.each<[string, Parameters<typeof derivedKey>]>([
    ['workspace', [secret, 'login', 'uid-2']],
    ['purpose', [secret, 'host', 'uid-1']],
    ['division of its purpose', [secret, 'login', 'uid', '-1']],
    ['secret', [Buffer.alloc(32, 'b'), 'login', 'uid-1']],
  ])('is another one for another %s', (_, other) => {
    const { publicKey, privateKey } = derivedKey(secret, 'login', 'uid-1');
    expect(derivedKey(...other).publicKey).not.toBe(publicKey);
    expect(derivedKey(...other).privateKey).not.toBe(privateKey);
  });
});

const ssh = await promisify(execFile)('ssh-keygen', ['-?']).catch((error: { code?: unknown }) => error);
const lacking = 'code' in ssh && ssh.code === 'ENOENT';
if (lacking) console.warn('skipped: what OpenSSH makes of our keys: expected ssh-keygen, found none');

test.skipIf(lacking)('OpenSSH reads a derived key, and finds the same public one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ssh-'));
  try {
    for (const uid of ['1', '2', '3', '4']) {
      const { privateKey, publicKey } = derivedKey(secret, 'login', uid);
      const file = join(folder, uid);
      await writeFile(file, privateKey, { mode: 0o600 });
      const { stdout } = await promisify(execFile)('ssh-keygen', ['-y', '-f', file]);
      expect(stdout.trim()).toBe(publicKey);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});
