import { get } from 'node:https';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestWorld } from '../../test/support/harness/gateway.ts';
import { testCertificate } from '../../test/support/tools/certificate.ts';
import { settingsFrom } from './start.ts';

const world = await startTestWorld();
const { issuer, lines, path, write, config, start, send } = world;
beforeEach(world.reset);
afterAll(world.close);

describe('files that change', () => {
  test('a new configuration applies to the next request, an invalid one is logged and changes nothing', async () => {
    await write('changing.yaml', config());
    const changing = await start({ configFile: path('changing.yaml') });
    const status = async (claims: { repository: string }) =>
      (await send({ url: changing.url, token: await issuer.token(claims) })).status;
    expect(await status({ repository: 'labs/more' })).toBe(403);
    await write('changing.yaml', config().replace('labs/images', 'labs/*'));
    expect(await changing.renew()).toBe(true);
    expect(await status({ repository: 'labs/more' })).toBe(202);
    await write('changing.yaml', 'issuers: []');
    expect(await changing.renew()).toBe(false);
    expect(await status({ repository: 'labs/more' })).toBe(202);
    expect(lines.find(({ level }) => level === 'error')?.message).toMatch(
      /changing\.yaml: expected .* what was read before stays/,
    );
    await changing.close();
  });

  test('a new certificate is shown to the next connection, a half-written pair is not', async () => {
    const [first, second] = [testCertificate('127.0.0.1'), testCertificate('127.0.0.1')];
    await write('tls.crt', first.cert);
    await write('tls.key', first.key);
    const secure = await start({ tls: { certificate: path('tls.crt'), key: path('tls.key') } });
    expect(await healthOver(secure.url, first.cert)).toBe(200);
    await write('tls.crt', second.cert);
    expect(await secure.renew()).toBe(false);
    expect(await healthOver(secure.url, first.cert)).toBe(200);
    await write('tls.key', second.key);
    expect(await secure.renew()).toBe(true);
    expect(await healthOver(secure.url, second.cert)).toBe(200);
    await expect(healthOver(secure.url, first.cert)).rejects.toThrow('self-signed certificate');
    await secure.close();
  });

  test('without a certificate or a configuration it does not start', async () => {
    await expect(start({ tls: { certificate: path('none'), key: path('none') } })).rejects.toThrow('ENOENT');
    await expect(start({ configFile: path('none') })).rejects.toThrow('ENOENT');
  });

  const healthOver = (url: string, ca: string) =>
    new Promise<number>((resolve, reject) => {
      get(`${url}/health/live`, { ca, agent: false }, (response) => resolve(response.resume().statusCode ?? 0)).on(
        'error',
        reject,
      );
    });
});

test('plain HTTP needs an explicit setting', () => {
  expect(settingsFrom({}).tls).toEqual({ certificate: '/etc/gateway/tls/tls.crt', key: '/etc/gateway/tls/tls.key' });
  expect(settingsFrom({ GATEWAY_PLAIN_HTTP: 'false' }).tls).not.toBe('plain-http');
  expect(settingsFrom({ GATEWAY_PLAIN_HTTP: 'true' }).tls).toBe('plain-http');
});
