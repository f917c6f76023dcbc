import type { ServerResponse } from 'node:http';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestWorld } from '../../test/support/harness/gateway.ts';

const world = await startTestWorld();
const { issuer, broker, lines, config, withGateway, send } = world;
beforeEach(world.reset);
afterAll(world.close);

describe('the keys of an issuer', () => {
  test('are fetched once for many tokens', async () => {
    const before = issuer.asked.length;
    await withGateway(config(), async (url) => {
      for (let count = 0; count < 3; count++)
        expect((await send({ url, token: await issuer.token() })).status).toBe(202);
    });
    expect(issuer.asked.slice(before)).toEqual(['/.well-known/openid-configuration', '/keys']);
  });

  test('are fetched where the configuration says, without asking the issuer', async () => {
    const before = issuer.asked.length;
    await withGateway(config({}, { jwksUri: `${issuer.url}/keys` }), async (url) => {
      expect((await send({ url, token: await issuer.token() })).status).toBe(202);
    });
    expect(issuer.asked.slice(before)).toEqual(['/keys']);
  });

  const discovery = '/.well-known/openid-configuration';
  const saying = (body: object) => (response: { end(text: string): unknown }) => response.end(JSON.stringify(body));
  test.each<[string, string, (response: ServerResponse) => void, RegExp]>([
    ['that redirects', discovery, (r) => r.writeHead(302, { location: `${issuer.url}/keys` }).end(), /found 302/],
    ['whose keys redirect', '/keys', (r) => r.writeHead(307, { location: 'https://127.0.0.1:1/' }).end(), /found 307/],
    [
      'with keys elsewhere',
      discovery,
      (r) => saying({ issuer: issuer.url, jwks_uri: 'https://evil.example/keys' })(r),
      /at its own host/,
    ],
    [
      'with keys over plain HTTP',
      discovery,
      (r) => saying({ issuer: issuer.url, jwks_uri: 'http://127.0.0.1/keys' })(r),
      /at its own host/,
    ],
    [
      'with another name',
      discovery,
      (r) => saying({ issuer: 'https://other.example', jwks_uri: `${issuer.url}/keys` })(r),
      /call itself/,
    ],
    ['that sends without end', '/keys', (r) => r.end('x'.repeat(300 * 1024)), /at most/],
    ['that is broken', '/keys', (r) => r.writeHead(500).end(), /found 500/],
  ])('are not taken of an issuer %s: 503, and it is left alone for some seconds', async (_, at, answer, why) => {
    issuer.answers.set(at, answer);
    const before = issuer.asked.length;
    await withGateway(config(), async (url) => {
      for (let count = 0; count < 3; count++) {
        const found = await send({ url, token: await issuer.token() });
        expect(found).toMatchObject({
          status: 503,
          error: 'the keys of the issuer ci are out of reach just now; try again',
        });
      }
    });
    expect(issuer.asked.slice(before).filter((path) => path === at)).toHaveLength(1);
    expect(lines[0]?.message).toMatch(why);
    expect(broker.received).toEqual([]);
  });

  test('are not accepted from a host with an untrusted certificate', async () => {
    await withGateway(config({}, { caFile: undefined }), async (url) => {
      expect(await send({ url, token: await issuer.token() })).toMatchObject({ status: 503 });
    });
  });
});
