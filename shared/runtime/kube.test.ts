import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { inspect } from 'node:util';
import { KubeConfig } from '@kubernetes/client-node';
import { afterEach, describe, expect, test } from 'vitest';
import { kubeconfigFor } from '../../deploy/local/api-server/kubeconfig.ts';
import { startInstalledServer } from '../../deploy/local/installed-server.ts';
import { aVMDiskImage } from '../../test/support/builders/images.ts';
import { Secret } from '../kinds/core/secret.ts';
import { VirtualMachine } from '../kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import type { Resource } from '../kinds/resource.ts';
import { type Kube, kubeClient } from './kube.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** Where a server listens that answers in this way. */
async function listening(answer: RequestListener): Promise<KubeConfig> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  const config = new KubeConfig();
  const { port } = server.address() as AddressInfo;
  config.loadFromString(kubeconfigFor(`http://127.0.0.1:${port}`));
  return config;
}

/** A client of a server that notes what it was sent, and answers the same to all of it. */
async function onTheWire(status = 200, answer = '{}') {
  const sent: { request: string; body: unknown }[] = [];
  const config = await listening(async (request, response) => {
    sent.push({ request: `${request.method} ${request.url}`, body: JSON.parse((await text(request)) || 'null') });
    response.writeHead(status).end(answer);
  });
  return { kube: kubeClient(config), sent };
}

describe('a DELETE', () => {
  const ubuntu = { namespace: 'vmdi-farm', name: 'ubuntu' };
  const request = 'DELETE /apis/pelotech.ot/v1alpha1/namespaces/vmdi-farm/vmdiskimages/ubuntu';
  const options = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' };

  test.each([
    ['uid and resourceVersion', { uid: 'uid-of-ubuntu', resourceVersion: '42' }],
    ['uid alone', { uid: 'uid-of-ubuntu' }],
  ])('carries as preconditions %s', async (_, preconditions) => {
    const { kube, sent } = await onTheWire();
    await kube.delete(VMDiskImage, ubuntu, preconditions);
    expect(sent).toEqual([{ request, body: { ...options, preconditions } }]);
  });
  test('is unconditional where none are given', async () => {
    const { kube, sent } = await onTheWire();
    await kube.delete(VMDiskImage, ubuntu);
    expect(sent).toEqual([{ request, body: options }]);
  });
});

describe('a list', () => {
  /** A server with Secrets of these sizes; the limits that it was asked with, and the bytes of its largest answer that was read. */
  async function serving(sizes: readonly number[]) {
    const limits: number[] = [];
    const read = { most: 0 };
    const count = sizes.length;
    const config = await listening((request, response) => {
      const query = new URL(request.url ?? '', 'http://localhost').searchParams;
      const [from, limit] = [Number(query.get('continue') ?? 0), Number(query.get('limit'))];
      limits.push(limit);
      const to = Math.min(count, from + limit);
      const items = Array.from({ length: to - from }, (_, at) => ({
        metadata: {
          name: `secret-${from + at}`,
          namespace: 'lab',
          annotations: { filler: 'x'.repeat(sizes[from + at] ?? 0) },
        },
      }));
      const next = to < count ? String(to) : '';
      const answer = JSON.stringify({ metadata: { resourceVersion: '1', continue: next }, items });
      response.once('finish', () => {
        read.most = Math.max(read.most, answer.length);
      });
      response.end(answer);
    });
    return { kube: kubeClient(config), limits, read };
  }

  test('of large objects has small pages, and every object once', async () => {
    const { kube, limits } = await serving(Array(400).fill(10_000));
    const names = (await kube.list(Secret)).map(({ metadata }) => metadata.name);
    expect(names).toEqual(Array.from({ length: 400 }, (_, index) => `secret-${index}`));
    // A megabyte has a hundred of them.
    expect(limits).toEqual([250, 104, 104]);
  });
  test('of small objects has pages of 500 at most', async () => {
    const { kube, limits } = await serving(Array(1_000).fill(10));
    expect(await kube.list(Secret)).toHaveLength(1_000);
    expect(limits).toEqual([250, 500, 500]);
  });
  test('is read no further than its reader goes on, and no larger than he asks for', async () => {
    const { kube, limits } = await serving(Array(1_000).fill(10));
    for await (const { items } of kube.pages(Secret, { limit: 1 })) {
      expect(items).toHaveLength(1);
      break;
    }
    expect(limits).toEqual([1]);
  });
  test.each([
    ['from its beginning', []],
    ['after thousands of small ones', Array<number>(2_000).fill(100)],
  ])('of objects of a megabyte has few at once, %s', async (_, small) => {
    const { kube, read } = await serving([...small, ...Array<number>(12).fill(1_000_000)]);
    const sizes: number[] = [];
    for await (const { items } of kube.pages(Secret)) sizes.push(items.length);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(small.length + 12);
    expect(read.most).toBeLessThan(5_000_000);
  });
});

describe('of an object that may hold passwords', () => {
  const ref = { namespace: 'lab', name: 'vm' };
  const quoting = (code: number) => JSON.stringify({ code, reason: 'Invalid', message: 'denied: "pw"' });
  const errorOf = (done: Promise<unknown>) => done.then(String, (error: unknown) => error);

  test.each([Secret, VirtualMachine])(
    '$kind no error shows what the API server said, but to those who ask for it',
    async (kind) => {
      const { kube } = await onTheWire(422, quoting(422));
      const error = await errorOf(kube.create(kind as Resource, { metadata: ref }));
      expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('pw');
      expect(error).toMatchObject({ status: 422, reason: 'Invalid', serverMessage: 'denied: "pw"' });
    },
  );
  test('an answer that is no JSON is not quoted either', async () => {
    const { kube } = await onTheWire(200, '["pw",x]');
    expect(inspect(await errorOf(kube.get(Secret, ref)), { depth: 9, showHidden: true })).not.toContain('pw');
  });
  test('of any other object it does', async () => {
    const { kube } = await onTheWire(422, quoting(422));
    expect(await errorOf(kube.create(VMDiskImage, { metadata: ref }))).toMatchObject({ message: 'denied: "pw"' });
  });
});

describe('a request that is not answered in time', () => {
  /** A client, with little patience, of a server that sends what `begin` does, and then nothing any more. */
  const silent = async (begin: (response: ServerResponse) => void = () => undefined) =>
    kubeClient(await listening((_, response) => begin(response)), 'Warn', { timeoutMs: 50 });
  const path = '/apis/pelotech.ot/v1alpha1/namespaces/lab/vmdiskimages/ubuntu';
  const said = `expected an answer to GET ${path} within 0.05 s, found none`;

  test('is given up and says so', async () => {
    const kube = await silent();
    await expect(kube.get(VMDiskImage, { namespace: 'lab', name: 'ubuntu' })).rejects.toThrow(said);
  });
  test('is given up where the answer has begun, too', async () => {
    const kube = await silent((response) => void response.writeHead(200).write('{'));
    await expect(kube.get(VMDiskImage, { namespace: 'lab', name: 'ubuntu' })).rejects.toThrow(said);
  });
});

describe('only the API server knows that an object does not exist', () => {
  const ref = { namespace: 'lab', name: 'ubuntu' };
  // As recorded: test/proofs/contract/recorded/{read,write}.json.
  const status = (message: string, details: object) =>
    JSON.stringify({ kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404, message, details });

  test('and says its name', async () => {
    const said = status('vmdiskimages.pelotech.ot "ubuntu" not found', { name: 'ubuntu', kind: 'vmdiskimages' });
    const { kube } = await onTheWire(404, said);
    expect(await kube.get(VMDiskImage, ref)).toBeUndefined();
  });

  test.each([
    ['a kind that is not served', '404 page not found\n'],
    ['a path that is not served', status('the server could not find the requested resource', {})],
    ['a proxy without a server behind it', '<html>404 Not Found</html>'],
  ])('a 404 for %s is an error', async (_, answer) => {
    const { kube } = await onTheWire(404, answer);
    await expect(kube.get(VMDiskImage, ref)).rejects.toMatchObject({ status: 404 });
  });
});

describe('a field that the kind does not know', () => {
  const { apiVersion, kind, spec } = aVMDiskImage();
  const image = (name: string) => ({
    apiVersion,
    kind,
    metadata: { namespace: 'default', name },
    spec: { ...spec, colour: 'red' },
  });

  async function clients() {
    const server = await startInstalledServer(['crds']);
    ends.push(server.close);
    const config = new KubeConfig();
    config.loadFromString(server.kubeconfig());
    const [strict, byDefault] = [kubeClient(config, 'Strict'), kubeClient(config)];
    return { strict, byDefault };
  }

  test('is refused under Strict, and taken out by default', async () => {
    const { strict, byDefault } = await clients();
    const refusal = { status: 400, message: expect.stringContaining('unknown field "spec.colour"') };
    await expect(strict.create(VMDiskImage, image('red'))).rejects.toMatchObject(refusal);
    const made = await byDefault.create(VMDiskImage, image('red'));
    expect(made.spec).not.toHaveProperty('colour');

    const { metadata } = made;
    const red = { ...made, spec: { ...made.spec, colour: 'red' } };
    await expect(strict.replace(VMDiskImage, red)).rejects.toMatchObject(refusal);
    expect((await byDefault.replace(VMDiskImage, red)).spec).not.toHaveProperty('colour');
    const patch = { spec: { colour: 'red' } };
    await expect(strict.patch(VMDiskImage, metadata, patch)).rejects.toMatchObject({ ...refusal, status: 422 });
    expect((await byDefault.patch(VMDiskImage, metadata, patch)).spec).not.toHaveProperty('colour');
  });
});

describe('the requests of a client', () => {
  const ref = { namespace: 'lab', name: 'ubuntu' };
  const found = JSON.stringify(aVMDiskImage());

  test('are at most 32 at once, and all 1000 are answered in the order in which they came', async () => {
    const open: ServerResponse[] = [];
    const asked: string[] = [];
    let most = 0;
    const config = await listening((request, response) => {
      most = Math.max(most, open.push(response));
      asked.push(request.url?.split('/').at(-1) ?? '');
      // After the last ones no more come. Two turns of the event loop are enough for a request beyond the limit to arrive.
      if (open.length === 32 || asked.length === 1000) {
        setImmediate(() => setImmediate(() => open.splice(0).forEach((one) => void one.writeHead(200).end(found))));
      }
    });
    const kube = kubeClient(config);
    const names = Array.from({ length: 1000 }, (_, index) => `i${index}`);
    const answers = await Promise.all(names.map((name) => kube.get(VMDiskImage, { namespace: 'lab', name })));
    expect(answers.filter((answer) => answer !== undefined)).toHaveLength(1000);
    expect(most).toBe(32);
    // Connections are not synchronized: at most the requests in flight overtake a request.
    expect(Math.max(...asked.map((name, index) => Math.abs(Number(name.slice(1)) - index)))).toBeLessThanOrEqual(32);
  });

  test('do not count watches', async () => {
    const config = await listening((request, response) => {
      if (request.url?.includes('watch')) response.writeHead(200).flushHeaders();
      else response.writeHead(200).end(found);
    });
    const kube = kubeClient(config);
    const watch = new AbortController();
    const watches = Array.from({ length: 40 }, () =>
      kube.watch(VMDiskImage, { signal: watch.signal }, () => undefined).catch(() => undefined),
    );
    expect(await kube.get(VMDiskImage, ref)).toBeDefined();
    watch.abort();
    await Promise.all(watches);
  });

  /** A client of a server that gives these answers, one after the other, then repeats the last; and how long the client waited. */
  async function answered(...answers: readonly (readonly [number, string?])[]) {
    const pauses: number[] = [];
    let asked = 0;
    const config = await listening((_, response) => {
      const [status, retryAfter] = answers[Math.min(asked++, answers.length - 1)] ?? [500];
      if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
      response.writeHead(status).end(status === 200 ? found : 'Too many requests, please try again later.');
    });
    const kube = kubeClient(config, 'Warn', { pause: async (ms) => void pauses.push(ms) });
    return { kube, pauses, asked: () => asked };
  }
  const get = (kube: Kube) => kube.get(VMDiskImage, ref);
  const create = (kube: Kube) => kube.create(VMDiskImage, aVMDiskImage());

  test.each([
    ['a read', get],
    ['a write', create],
  ])('that are refused with Retry-After are made again after that time: %s', async (_, ask) => {
    const { kube, pauses } = await answered([429, '1'], [429, '3'], [200]);
    expect(await ask(kube)).toMatchObject({ kind: 'VMDiskImage' });
    expect(pauses).toEqual([1000, 3000]);
  });
  test.each([
    ['429 without Retry-After', get, [429], 1],
    ['429 with a longer time than a decision may wait', get, [429, '11'], 1],
    ['429 each time', get, [429, '1'], 5],
    ['429 each time, with a longer time in all', get, [429, '4'], 3],
    ['503 to a read', get, [503, '1'], 5],
    ['503 to a write, which may have been performed', create, [503, '1'], 1],
    ['500, also with Retry-After', get, [500, '1'], 1],
  ] as const)('fail after this many attempts: %s', async (_, ask, answer, times) => {
    const { kube, asked } = await answered(answer);
    await expect(ask(kube)).rejects.toMatchObject({ status: answer[0] });
    expect(asked()).toBe(times);
  });
  test('are all answered if each is refused once', async () => {
    const refused = new Set<string>();
    const config = await listening(({ url = '' }, response) => {
      if (refused.has(url)) response.writeHead(200).end(found);
      else response.writeHead(429, { 'retry-after': '1' }).end();
      refused.add(url);
    });
    const kube = kubeClient(config, 'Warn', { pause: async () => undefined });
    const names = Array.from({ length: 100 }, (_, index) => `i${index}`);
    const answers = await Promise.all(names.map((name) => kube.get(VMDiskImage, { namespace: 'lab', name })));
    expect(answers.filter((answer) => answer !== undefined)).toHaveLength(100);
  });
});
