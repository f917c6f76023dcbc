import { spawn } from 'node:child_process';
import { access, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KeyPair } from '../../deploy/local/object-store/sigv4.ts';
import { freePort } from '../support/tools/first-answer.ts';

/** A running versitygw, an S3 server, over a folder of its own. */
export interface Versitygw {
  port: number;
  /** Its buckets are the folders in here, and its objects the files in those. */
  folder: string;
  stop(): Promise<void>;
}

/** Where versitygw is on the PATH; undefined where it is not. */
export async function findVersitygw(): Promise<string | undefined> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const file = join(folder, 'versitygw');
    const isThere = await access(file).then(
      () => true,
      () => false,
    );
    if (isThere) return file;
  }
  return undefined;
}

/** Starts versitygw on loopback with `keys` as those of its owner; throws what it said where it does not come up. */
export async function startVersitygw({ keys, region }: { keys: KeyPair; region: string }): Promise<Versitygw> {
  const command = await findVersitygw();
  if (!command) throw new Error('expected versitygw on the PATH, found none: put its folder there');
  const base = await mkdtemp(join(tmpdir(), 'versitygw-'));
  // What it notes about objects goes beside them, since not every file system has extended attributes.
  const [folder, sidecar, users] = [join(base, 'buckets'), join(base, 'sidecar'), join(base, 'users')];
  await Promise.all([folder, sidecar, users].map((each) => mkdir(each)));
  const port = await freePort();
  // Only where it has a folder for users does it say of an unknown key what S3 says.
  const options = ['--port', `127.0.0.1:${port}`, '--region', region, '--quiet', '--iam-dir', users];
  const child = spawn(command, [...options, 'posix', '--sidecar', sidecar, folder], {
    env: { ...process.env, ROOT_ACCESS_KEY: keys.accessKeyId, ROOT_SECRET_KEY: keys.secretKey },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => (said = `${said}${chunk}`.slice(-4000)));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = async () => {
    child.kill();
    await ended;
    await rm(base, { recursive: true });
  };
  const isUp = await Promise.race([listens(port), ended.then(() => false)]);
  if (isUp) return { port, folder, stop };
  await stop();
  throw new Error(`expected versitygw to listen on port ${port}, found that it ended: ${said.trim()}`);
}

const patienceMs = 20_000;

/** Whether the port is listened on before long. It does not report when it is up, so it is asked. */
async function listens(port: number): Promise<boolean> {
  const lateMs = Date.now() + patienceMs;
  while (Date.now() < lateMs) {
    if (await answers(port)) return true;
    await sleep(50);
  }
  return false;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
