import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { KubeConfig } from '@kubernetes/client-node';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { aVMDiskImage } from '../../test/support/builders/images.ts';
import { testCertificate } from '../../test/support/tools/certificate.ts';
import { VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import { NoAnswer } from './errors.ts';
import { kubeClient } from './kube.ts';

const ref = { namespace: 'lab', name: 'ubuntu' };
const path = '/apis/pelotech.ot/v1alpha1/namespaces/lab/vmdiskimages/ubuntu';

let folder: string;
const ends: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ot-transport-'));
});
afterEach(async () => {
  vi.useRealTimers();
  for (const end of ends.splice(0)) await end();
  await rm(folder, { recursive: true });
});

type Server = ReturnType<typeof createServer> | ReturnType<typeof createSecureServer>;

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  return (server.address() as AddressInfo).port;
}

/** Answers each request with an image, and notes what it says of who asks, and over how many connections they came. */
function noting() {
  const noted: { authorization: string | undefined; encoding: string; client: string }[] = [];
  const connections = new Set<Socket>();
  const answer: RequestListener = (request, response) => {
    const { authorization, 'accept-encoding': encoding = '', 'user-agent': client = '' } = request.headers;
    noted.push({ authorization, encoding: String(encoding), client });
    connections.add(request.socket);
    response.end(JSON.stringify(aVMDiskImage()));
  };
  return { noted, connections, answer, bearers: () => noted.map(({ authorization }) => authorization) };
}

/** A kubeconfig as an object, whose one cluster and user are these. */
function configOf(cluster: object, user: object = {}): KubeConfig {
  const config = new KubeConfig();
  const context = { name: 'x', cluster: 'c', user: 'u' };
  const [clusters, users] = [[{ name: 'c', ...cluster }], [{ name: 'u', ...user }]];
  config.loadFromOptions({ clusters, users, contexts: [context], currentContext: 'x' });
  return config;
}

const plain = (port: number) => ({ server: `http://127.0.0.1:${port}`, skipTLSVerify: true });
const secure = (port: number, ca: { caFile?: string; caData?: string } = {}) => ({
  server: `https://127.0.0.1:${port}`,
  ...ca,
});
const base64 = (pem: string) => Buffer.from(pem).toString('base64');

const read = (config: KubeConfig) => kubeClient(config).get(VMDiskImage, ref);

describe('who asks', () => {
  test('is identified by the token in a file, which is read again a minute later', async () => {
    const { answer, bearers } = noting();
    const tokenFile = join(folder, 'token');
    await writeFile(tokenFile, 'first');
    vi.useFakeTimers({ toFake: ['Date'] });
    const kube = kubeClient(
      configOf(plain(await portOf(createServer(answer))), {
        authProvider: { name: 'tokenFile', config: { tokenFile } },
      }),
    );
    await kube.get(VMDiskImage, ref);
    await writeFile(tokenFile, 'second');
    vi.setSystemTime(Date.now() + 61_000);
    await kube.get(VMDiskImage, ref);
    expect(bearers()).toEqual(['Bearer first', 'Bearer second']);
  });

  test('is identified by a program, which runs again once its token has expired', async () => {
    const { answer, bearers } = noting();
    vi.useFakeTimers({ toFake: ['Date'] });
    const script = join(folder, 'credentials.mjs');
    const count = join(folder, 'count');
    await writeFile(
      script,
      `import { appendFileSync, readFileSync } from 'node:fs';
       appendFileSync('${count}', 'x');
       const token = 'token-' + readFileSync('${count}').length;
       const expirationTimestamp = '${new Date(Date.now() + 60_000).toISOString()}';
       console.log(JSON.stringify({ status: { token, expirationTimestamp } }));`,
    );
    const exec = { command: process.execPath, args: [script] };
    const kube = kubeClient(configOf(plain(await portOf(createServer(answer))), { exec }));
    await kube.get(VMDiskImage, ref);
    await kube.get(VMDiskImage, ref);
    vi.setSystemTime(Date.now() + 61_000);
    await kube.get(VMDiskImage, ref);
    expect(bearers()).toEqual(['Bearer token-1', 'Bearer token-1', 'Bearer token-2']);
  });

  test('is identified by a password', async () => {
    const { answer, bearers } = noting();
    await read(configOf(plain(await portOf(createServer(answer))), { username: 'ann', password: 'pw' }));
    expect(bearers()).toEqual([`Basic ${base64('ann:pw')}`]);
  });

  test('is identified by a client certificate', async () => {
    const [server, client] = [testCertificate('127.0.0.1'), testCertificate('127.0.0.1')];
    const shown: string[] = [];
    const options: ServerOptions = { ...server, requestCert: true, ca: client.cert };
    const port = await portOf(
      createSecureServer(options, (request, response) => {
        shown.push(`${(request.socket as TLSSocket).authorized}`);
        response.end(JSON.stringify(aVMDiskImage()));
      }),
    );
    const user = { certData: base64(client.cert), keyData: base64(client.key) };
    await read(configOf(secure(port, { caData: base64(server.cert) }), user));
    expect(shown).toEqual(['true']);
  });
});

describe('the API server', () => {
  test('is believed by the CA of the kubeconfig, and by no other', async () => {
    const [own, foreign] = [testCertificate('127.0.0.1'), testCertificate('127.0.0.1')];
    const port = await portOf(createSecureServer(own, noting().answer));
    expect(await read(configOf(secure(port, { caData: base64(own.cert) })))).toBeDefined();
    await expect(read(configOf(secure(port, { caData: base64(foreign.cert) })))).rejects.toThrow(NoAnswer);
    await expect(read(configOf(secure(port)))).rejects.toThrow(/found none: .*self.signed/);
    expect(await read(configOf({ ...secure(port), skipTLSVerify: true }))).toBeDefined();
  });

  test('is believed by a CA that was replaced in its file', async () => {
    const [before, after] = [testCertificate('127.0.0.1'), testCertificate('127.0.0.1')];
    const server = createSecureServer(before, noting().answer);
    const port = await portOf(server);
    const caFile = join(folder, 'ca.crt');
    await writeFile(caFile, before.cert);
    const kube = kubeClient(configOf(secure(port, { caFile })));
    await kube.get(VMDiskImage, ref);
    server.setSecureContext(after);
    server.closeAllConnections();
    await writeFile(caFile, after.cert);
    expect(await kube.get(VMDiskImage, ref)).toBeDefined();
  });

  test('is reached through the proxy of the kubeconfig', async () => {
    const certificate = testCertificate('127.0.0.1');
    const port = await portOf(createSecureServer(certificate, noting().answer));
    const asked: string[] = [];
    const proxy = createServer().on('connect', ({ url = '' }, socket: Socket) => {
      asked.push(url);
      const onward = connect(port, '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
      onward.pipe(socket).pipe(onward);
      for (const end of [onward, socket]) end.on('error', () => undefined);
      ends.unshift(async () => void socket.destroy());
    });
    const proxyUrl = `http://127.0.0.1:${await portOf(proxy)}`;
    await read(configOf({ ...secure(port, { caData: base64(certificate.cert) }), proxyUrl }));
    expect(asked).toEqual([`127.0.0.1:${port}`]);
  });

  test('is asked over connections that are kept, for answers that need no decompression, by a client with a name', async () => {
    const { answer, connections, noted } = noting();
    const certificate = testCertificate('127.0.0.1');
    const port = await portOf(createSecureServer(certificate, answer));
    const kube = kubeClient(configOf(secure(port, { caData: base64(certificate.cert) })));
    for (let times = 0; times < 20; times++) await kube.get(VMDiskImage, ref);
    // The next request may come in the moment in which the last answer ends.
    expect(connections.size).toBeLessThanOrEqual(2);
    expect(noted).toEqual(Array(20).fill({ authorization: undefined, encoding: '', client: 'ot-functions' }));
  });
});

describe('without an answer', () => {
  const said = `expected an answer to GET ${path}, found none`;
  /** The config of a server that has just ended. */
  async function refusing() {
    const server = createServer();
    const config = configOf(plain(await portOf(server)));
    await ends.pop()?.();
    return config;
  }
  /** The config of a server that does this to a connection. */
  const that = async (answer: RequestListener) => configOf(plain(await portOf(createServer(answer))));

  test.each([
    ['the connection is refused', refusing, 'ECONNREFUSED'],
    ['it is cut before it', () => that((request) => request.socket.destroy()), 'other side closed'],
    [
      'it is cut in the middle of it',
      () =>
        that((request, response) => {
          response.writeHead(200, { 'content-length': '100' }).write('{', () => request.socket.destroy());
        }),
      'other side closed',
    ],
    [
      'the host does not exist',
      async () => configOf({ ...plain(1), server: 'http://nowhere.invalid' }),
      'nowhere.invalid',
    ],
  ])('because %s, the error of a read says why', async (_, config, why) => {
    const error = await read(await config()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NoAnswer);
    expect(String(error)).toContain(said);
    expect(String(error)).toContain(why);
  });

  test('a list and a watch say so too', async () => {
    const kube = kubeClient(await refusing());
    await expect(kube.list(VMDiskImage)).rejects.toThrow(NoAnswer);
    const { signal } = new AbortController();
    await expect(kube.watch(VMDiskImage, { signal }, () => undefined)).rejects.toThrow(NoAnswer);
  });

  test('a list whose page is too long is read in shorter ones', async () => {
    const limits: string[] = [];
    const kube = kubeClient(
      await that(({ url = '' }, response) => {
        const limit = new URL(url, 'http://localhost').searchParams.get('limit') ?? '';
        limits.push(limit);
        const filler = limit === '1' ? '' : 'x'.repeat(5_000_000);
        response.end(JSON.stringify({ metadata: { resourceVersion: '1' }, items: [], filler }));
      }),
    );
    expect(await kube.list(VMDiskImage)).toEqual([]);
    expect(limits).toEqual(['250', '32', '4', '1']);
  });
});
