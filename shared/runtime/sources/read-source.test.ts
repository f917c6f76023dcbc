import { createServer, type RequestListener } from 'node:http';
import { afterAll, describe, expect, test } from 'vitest';
import { startObjectStore } from '../../../deploy/local/object-store/object-store.ts';
import { aVMDiskImage } from '../../../test/support/builders/images.ts';
import { downloadOf, refusalOfAddress } from '../../images/sources.ts';
import { parsePolicy } from '../../policy.ts';
import { readSource, type SourceRequest } from './read-source.ts';

const ends: (() => unknown)[] = [];
afterAll(() => Promise.all(ends.map((end) => end())));

async function serving(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
}

const range = { from: 0, bytes: 1024 };
const anywhere = () => undefined;
const read = (url: string, more: Partial<SourceRequest> = {}) => readSource({ url, range, refuses: anywhere, ...more });

/** An image that an admin made in a namespace of images, and the policy that allows these lines. */
const byPolicy = (url: string, lines = ''): SourceRequest => {
  const image = aVMDiskImage({ spec: { url, sourceType: 'http', secretRef: undefined } });
  const policy = parsePolicy({ data: lines ? { allowedSources: lines } : {} });
  return { url, range, refuses: (hop, address) => refusalOfAddress(policy, downloadOf(image), hop, address) };
};
const refusedBy = async (request: SourceRequest, addresses?: readonly string[]) => {
  const resolve = addresses ? async () => addresses : undefined;
  const answer = await readSource(request, ...(resolve ? [{ resolve, timeoutMs: 500 }] : []));
  return 'refused' in answer ? answer.refused : undefined;
};

describe('a part of an object', () => {
  test('is what was asked for, with the size of the whole', async () => {
    const store = await startObjectStore({ keys: [{ accessKeyId: 'a', secretKey: 'b' }], publicBuckets: ['public'] });
    ends.push(store.close);
    await store.put('public', 'disk', Buffer.alloc(5000, 'x'));
    expect(await read(`${store.url}/public/disk`, { range: { from: 4096, bytes: 1024 } })).toMatchObject({
      status: 206,
      bytes: 5000,
      body: Buffer.alloc(904, 'x'),
    });
    expect(store.bytesSent('public/disk')).toBe(904);
  });

  test('of S3 is asked for with a signature that the store verifies, whatever the name of the object', async () => {
    const keys = { accessKeyId: 'reader', secretKey: 'a/secret+of=the tests' };
    const store = await startObjectStore({ keys: [keys] });
    ends.push(store.close);
    await store.put('images', "a b+c(1)'/ü~.img", Buffer.alloc(600, 'x'));
    const url = `${store.url}/images/a%20b+c(1)'/%C3%BC~.img`;
    const credentials = { as: 's3', ...keys } as const;
    expect(await read(url, { credentials })).toMatchObject({ status: 206, bytes: 600 });
    expect(await read(url, { credentials: { ...credentials, secretKey: 'other' } })).toMatchObject({ status: 403 });
    expect(await read(`${store.url}/images/none`, { credentials })).toMatchObject({ status: 404 });
  });

  test('of S3 is asked for at the path that the importer makes of the URL', async () => {
    const keys = { accessKeyId: 'reader', secretKey: 'secret' };
    const store = await startObjectStore({ keys: [keys] });
    ends.push(store.close);
    await store.put('images', 'a/b.img', 'x');
    const credentials = { as: 's3', ...keys } as const;
    for (const path of ['images/a%2Fb.img', 'images//a//b.img', '/images/a/b.img/'])
      expect(await read(`${store.url}/${path}`, { credentials })).toMatchObject({ status: 206 });
    // It would make /private of it.
    const refused = { refused: 'the URL is not one that S3 can have' };
    expect(await read(`${store.url}/images/..%2F..%2Fprivate`, { credentials })).toEqual(refused);
  });

  test('is not asked for with a key that no header can hold, nor is the key told', async () => {
    const credentials = { as: 's3', accessKeyId: 'me\nyou', secretKey: 'secret' } as const;
    const answer = await read('http://127.0.0.1:1/images/a', { credentials });
    expect(answer).toEqual({ refused: 'the access key ID is not one that S3 can have' });
  });

  test('of a server without ranges is its beginning, and the connection is closed', async () => {
    let sent = 0;
    const url = await serving((_, response) => {
      response.writeHead(200, { 'content-length': 1 << 30 });
      const more = () => {
        while (response.write(Buffer.alloc(65_536), () => undefined)) sent += 65_536;
      };
      response.on('drain', more);
      more();
    });
    const answer = await read(url);
    expect(answer).toMatchObject({ status: 200, bytes: 1 << 30 });
    expect('body' in answer && answer.body.length).toBe(1024);
    expect(sent).toBeLessThan(16 << 20);
  });

  test.each([
    ['sends no answer', () => undefined],
    ['sends no body', (_, response) => void response.writeHead(200, { 'content-length': 9 }).flushHeaders()],
  ] satisfies [string, RequestListener][])('of a server that %s is given up', async (_, listener) => {
    const request = { url: await serving(listener), range, refuses: anywhere };
    const answer = await readSource(request, { resolve: async () => [], timeoutMs: 100 });
    expect(answer).toEqual({ unreachable: 'no answer within 0.1 s' });
  });

  test('of a server that is not there is unreachable', async () => {
    expect(await read('http://127.0.0.1:1/')).toEqual({ unreachable: 'connect ECONNREFUSED 127.0.0.1:1' });
  });

  test('is asked for with the name and password only of the server that they are for', async () => {
    const asked: (string | undefined)[] = [];
    const other = await serving(({ headers }, response) => {
      asked.push(headers.authorization);
      response.end('x');
    });
    const first = await serving(({ headers, url }, response) => {
      asked.push(headers.authorization);
      response.writeHead(302, { location: url === '/' ? '/again' : other }).end();
    });
    const credentials = { as: 'basic', accessKeyId: 'me', secretKey: 'secret' } as const;
    expect(await read(first, { credentials })).toMatchObject({ status: 200 });
    const basic = `Basic ${Buffer.from('me:secret').toString('base64')}`;
    expect(asked).toEqual([basic, basic, undefined]);
  });

  test('is not looked for in circles', async () => {
    const url = await serving((_, response) => response.writeHead(302, { location: '/' }).end());
    expect(await read(url)).toEqual({ unreachable: 'more than 5 redirects' });
  });
});

describe('nothing is asked', () => {
  test.each([
    ['a link-local address', 'http://169.254.169.254/latest/meta-data', '169.254.169.254'],
    ['the same, written otherwise', 'http://2852039166/', '169.254.169.254'],
    ['loopback', 'http://127.0.0.1:8080/', '127.0.0.1'],
    ['loopback of IPv6', 'http://[::1]/', '::1'],
    ['loopback in IPv6', 'http://[::ffff:127.0.0.1]/', '::ffff:7f00:1'],
    ['the metadata service of IPv6', 'http://[fd00:ec2::254]/', 'fd00:ec2::254'],
    ['a name of the cluster', 'http://kubernetes.default.svc/', '10.96.0.1'],
    ['this machine', 'http://0.0.0.0/', '0.0.0.0'],
  ])('of %s', async (_, url, address) => {
    expect(await refusedBy(byPolicy(url), [address])).toContain("in the policy's allowedSources");
  });

  test.each([
    ['a cluster address', ['10.96.0.1']],
    ['a private address', ['192.168.1.9']],
    ['a link-local address', ['169.254.169.254']],
    ['loopback', ['127.0.0.1', '::1']],
    ['a public address and another', ['93.184.216.34', '10.0.0.1']],
  ])('of a public name that resolves to %s', async (_, addresses) => {
    const said = await refusedBy(byPolicy('https://images.example.com/a.img'), addresses);
    expect(said).toMatch(/^images\.example\.com is at \S+, which is not a public address, and no line/);
  });

  test('of a name whose address changes between the check and the connection', async () => {
    let asked = 0;
    const secret = await serving((_, response) => {
      asked++;
      response.end('secret');
    });
    const { port } = new URL(secret);
    const answers = [['192.0.2.1'], ['127.0.0.1']];
    const checked: string[] = [];
    const answer = await readSource(
      {
        url: `http://rebind.example.com:${port}/`,
        range,
        refuses: (_, address) => {
          checked.push(address);
          return address.startsWith('127.') ? 'no' : undefined;
        },
      },
      // It is asked once, and what it says then is connected to: no one listens there.
      { resolve: async () => answers.shift() ?? [], timeoutMs: 300 },
    );
    expect(answer).toHaveProperty('unreachable');
    expect({ checked, asked, left: answers.length }).toEqual({ checked: ['192.0.2.1'], asked: 0, left: 1 });
  });

  test.each([
    ['loopback', (port: string) => `http://localhost:${port}/secret`, /localhost:\d+/],
    ['the metadata service', () => 'http://169.254.169.254/', /169\.254\.169\.254/],
    ['a file', () => 'file:///etc/passwd', /^expected http: or https:, found file:$/],
    ['a URL with a password', () => 'http://me:secret@images.example.com/', /^expected no user or password in a URL$/],
  ])('of %s to which a server redirects', async (_, location, said) => {
    let asked = 0;
    const url: string = await serving((request, response) => {
      if (request.url === '/secret') asked++;
      response.writeHead(302, { location: location(new URL(`http://${request.headers.host}`).port) }).end();
    });
    expect(await refusedBy(byPolicy(`${url}/a.img`, `${url}/a.img`))).toMatch(said);
    expect(asked).toBe(0);
  });

  test.each([
    ['file:///etc/passwd', 'expected http: or https:, found file:'],
    ['ftp://images.example.com/a', 'expected http: or https:, found ftp:'],
    ['https://me:secret@images.example.com/a', 'expected no user or password in a URL'],
  ])('at %s', async (url, said) => {
    expect(await read(url)).toEqual({ refused: said });
  });
});

test('what a line of the policy names is asked, wherever it is', async () => {
  const url = await serving((_, response) => response.end('x'));
  expect(await readSource(byPolicy(`${url}/a.img`, `${url}/**`))).toMatchObject({ status: 200 });
  const { port } = new URL(url);
  const named = byPolicy(`http://images.example.com:${port}/a.img`, `http://images.example.com:${port}/**`);
  expect(await readSource(named, { resolve: async () => ['127.0.0.1'], timeoutMs: 2000 })).toMatchObject({
    status: 200,
  });
});
