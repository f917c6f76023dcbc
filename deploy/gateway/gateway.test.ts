import { mkdir, rm } from 'node:fs/promises';
import { UnsecuredJWT } from 'jose';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import preload, { verified } from '../../functions/preload/index.ts';
import { imagePublished } from '../../shared/events.ts';
import { publicationKeysRef } from '../../shared/images/signature.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { policyRef } from '../../shared/policy.ts';
import { ApiError, NoAnswer } from '../../shared/runtime/errors.ts';
import { telemetryOf } from '../../shared/runtime/telemetry/telemetry.ts';
import { serveFunction } from '../../test/support/harness/function-harness.ts';
import { data, event, signingKey, startTestWorld } from '../../test/support/harness/gateway.ts';
import { imageMaker } from './make-image.ts';

// With the rights that the gateway's manifests give it, and no others.
const harness = await serveFunction({ ...verified, name: 'gateway' });
const fromBroker = await harness.beside(preload);
const { kube } = harness;
const images = imageMaker(verified, {
  kube: harness.as({ namespace: 'sync-operator', name: 'gateway' }),
  telemetry: telemetryOf('gateway'),
});
const imageUrlTemplate = 'https://s3.eu-west-1.amazonaws.com/images/{name}/{version}.qcow2';
await kube.patch(ConfigMap, policyRef, { data: { imageUrlTemplate } });
await kube.patch(Secret, publicationKeysRef, { data: { own: Buffer.from(signingKey).toString('base64') } });

/** The reasons of the Events that were recorded since they were last asked for. */
async function warnings(): Promise<string[]> {
  await images.drain();
  const found = await kube.list(Event);
  for (const { metadata } of found) await kube.delete(Event, metadata);
  return found.map((one) => (one as unknown as { reason: string }).reason);
}

async function forgetImages() {
  for (const { metadata } of await kube.list(VMDiskImage)) {
    await kube.patch(VMDiskImage, metadata, { metadata: { finalizers: null } });
    await kube.delete(VMDiskImage, metadata);
  }
}

const world = await startTestWorld(images);
const { issuer, broker, gateway, lines, path, write, config, start, withGateway, send } = world;
beforeEach(async () => {
  world.reset();
  await forgetImages();
});
afterAll(async () => {
  await world.close();
  await harness.close();
});

describe('what became of an image', () => {
  const get = async (query: string, token?: string) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const response = await fetch(`${gateway.url}?${query}`, { headers });
    return { status: response.status, body: await response.json() };
  };

  test('its pipeline learns how far it is, with what was published last', async () => {
    const token = await issuer.token();
    expect(await get(`name=${data.name}`, token)).toEqual({
      status: 404,
      body: { error: `expected an image ${data.name} in a namespace for images, found none` },
    });
    await send({ token });
    const place = { namespace: 'vmdi-farm', name: data.name };
    expect(await get(`name=${data.name}`, token)).toEqual({ status: 200, body: { ...place, phase: '', message: '' } });
    const { metadata } = (await kube.get(VMDiskImage, place)) ?? { metadata: { generation: 1 } };
    const status = (ready: 'True' | 'False', observedGeneration: number) => ({
      status: {
        phase: ready === 'True' ? 'Succeeded' : 'Failed',
        message: 'a sentence',
        observedGeneration,
        conditions: [
          { type: 'Ready', status: ready, reason: 'R', message: 'm', lastTransitionTime: '2026-01-01T00:00:00Z' },
        ],
      },
    });
    const report = (ready: 'True' | 'False', generation: number) =>
      kube.patch(VMDiskImage, place, status(ready, generation), { subresource: 'status' });
    await report('True', metadata.generation);
    expect((await get(`name=${data.name}`, token)).body).toMatchObject({ phase: 'Succeeded', end: 'ready' });
    await report('False', metadata.generation);
    expect((await get(`name=${data.name}`, token)).body).toMatchObject({ phase: 'Failed', end: 'failed' });
    await kube.patch(VMDiskImage, place, { spec: { diskSize: '99Gi' } });
    expect((await get(`name=${data.name}&namespace=vmdi-farm`, await issuer.token())).status).toBe(403);
    expect((await get(`name=${data.name}`, token)).body).not.toHaveProperty('end');
  });

  test.each([
    { query: 'name=lab-1', status: 401 },
    { query: 'name=golden', status: 403, claims: {} },
    { query: 'name=lab-1', status: 403, claims: { repository: 'evil/images' } },
    { query: 'name=lab-1&namespace=kube-system', status: 403, claims: {} },
    { query: 'image=lab-1', status: 400, claims: {} },
  ])('$query with $claims gets $status', async ({ query, status, claims }) => {
    expect((await get(query, claims && (await issuer.token(claims)))).status).toBe(status);
  });
});

describe('a good token and a good event', () => {
  test('pass, as the gateway itself, with the sender it verified', async () => {
    expect(await send({ token: await issuer.token() })).toMatchObject({ status: 202, text: '' });
    expect(broker.received).toEqual([
      {
        headers: expect.objectContaining({
          authorization: 'Bearer gateway-token-1',
          'ce-id': '4711.1',
          'ce-type': event['ce-type'],
          'ce-source': event['ce-source'],
          'ce-authtype': 'service_account',
          'ce-authid': 'repo:labs/images:ref:refs/tags/v1.0.0',
        }),
        body: JSON.stringify(data),
      },
    ]);
  });

  test('pass in structured mode as well', async () => {
    const { 'content-type': _, ...attributes } = event;
    const structured = Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name.slice(3), value]));
    const time = new Date(Date.now() - 60_000).toISOString();
    const body = JSON.stringify({ ...structured, time, datacontenttype: 'application/json', data });
    const headers = { 'content-type': 'application/cloudevents+json; charset=utf-8' };
    expect(await send({ token: await issuer.token(), headers, body })).toMatchObject({ status: 202 });
    expect(broker.received[0]).toMatchObject({
      headers: { 'ce-time': time, 'ce-webhooktimestamp': String(Math.floor(Date.parse(time) / 1000)) },
      body: JSON.stringify(data),
    });
  });

  test('pass signed by the newest key, with the time of the gateway where the sender says none, as preload verifies it', async () => {
    const next = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
    const verified = async (key: string) => {
      broker.received.length = 0;
      expect(await send({ token: await issuer.token() })).toMatchObject({ status: 202 });
      const [{ headers, body } = { headers: {}, body: '' }] = broker.received;
      // Standard Webhooks' own verification, with the names that it has for the same attributes.
      const verifying = new Webhook(key);
      return verifying.verify(body, {
        'webhook-id': String(headers['ce-id']),
        'webhook-timestamp': String(headers['ce-webhooktimestamp']),
        'webhook-signature': String(headers['ce-webhooksignature']),
      });
    };
    expect(await verified(signingKey)).toEqual(data);
    await write('keys/2', `${next}\n`);
    await write('keys/3', 'no key');
    await mkdir(path('keys/..data'), { recursive: true });
    expect(await verified(next)).toEqual(data);
    for (const name of ['2', '3', '..data']) await rm(path(`keys/${name}`), { recursive: true });
    expect(await verified(signingKey)).toEqual(data);
  });

  test('pass without the extensions that Triggers match on, and without what another says of its sender', async () => {
    const headers = {
      'ce-kind': 'Pod',
      'ce-apiversion': 'v1',
      'ce-knativebrokerttl': '1',
      'ce-authid': 'another sender',
    };
    expect(await send({ token: await issuer.token(), headers })).toMatchObject({ status: 202 });
    expect(
      Object.keys(broker.received[0]?.headers ?? {})
        .filter((name) => name.startsWith('ce-'))
        .sort(),
    ).toEqual(
      [
        ...['authid', 'authtype', 'id', 'source', 'specversion', 'time', 'type'],
        'webhooksignature',
        'webhooktimestamp',
      ].map((name) => `ce-${name}`),
    );
    expect(broker.received[0]?.headers['ce-authid']).toBe('repo:labs/images:ref:refs/tags/v1.0.0');
  });

  test('pass with the token that the kubelet has renewed meanwhile', async () => {
    await write('token', 'gateway-token-2\n');
    await send({ token: await issuer.token() });
    expect(broker.received[0]?.headers.authorization).toBe('Bearer gateway-token-2');
  });

  test('pass up to half a minute after the token has expired, for clocks differ', async () => {
    expect(await send({ token: await issuer.token({}, { expires: '-20s' }) })).toMatchObject({ status: 202 });
  });

  test('leave one line in the log, without the token', async () => {
    const token = await issuer.token();
    await send({ token });
    expect(lines).toEqual([
      {
        level: 'info',
        function: 'gateway',
        status: 202,
        issuer: 'ci',
        rule: 'labs',
        subject: 'repo:labs/images:ref:refs/tags/v1.0.0',
        event: '4711.1',
        type: event['ce-type'],
        image: 'lab-151-attacker',
        tookMs: expect.any(Number),
      },
    ]);
    expect(JSON.stringify(lines)).not.toContain(token.split('.')[2]);
  });
});

describe('a token that is not good gets 401, and no event passes', () => {
  const unsigned = () =>
    new UnsecuredJWT({ repository: 'labs/images', ref: 'refs/tags/v1' })
      .setIssuer(issuer.url)
      .setAudience('ot-preload')
      .setExpirationTime('5m')
      .encode();
  test.each<[string, () => Promise<string | undefined> | string | undefined, string]>([
    ['none', () => undefined, 'expected a header "Authorization: Bearer'],
    ['no JWT', () => 'abc', 'expected a JWT'],
    ['another issuer', () => issuer.token({ iss: 'https://evil.example' }), 'expected a token of a configured issuer'],
    ['another audience', () => issuer.token({ aud: 'sts.amazonaws.com' }), 'with the audience ot-preload'],
    ['no audience', () => issuer.token({ aud: [] }), 'with the audience ot-preload'],
    ['expired', () => issuer.token({}, { expires: '-2m' }), 'that has not expired'],
    ['not yet valid', () => issuer.token({ nbf: Math.floor(Date.now() / 1000) + 120 }), 'claim "nbf"'],
    ['signed by another', () => issuer.token({}, { key: 'foreign' }), 'a valid signature'],
    [
      'signed in a way that is not allowed',
      () => issuer.token({}, { algorithm: 'PS256' }),
      'signed with RS256 or ES256',
    ],
    ['not signed', unsigned, 'a valid signature|signed with'],
    ['changed after it was signed', async () => changed(await issuer.token()), 'a valid signature'],
    ['too long', () => `a.${'a'.repeat(17_000)}.a`, ''],
  ])('%s', async (_, make, expected) => {
    const token = await make();
    const answer = await send(token === undefined ? {} : { token });
    if (answer.status === 431) return expect(token?.length).toBeGreaterThan(16_384);
    expect(answer).toMatchObject({ status: 401, error: expect.stringMatching(expected) });
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    if (token) expect(JSON.stringify([answer, lines])).not.toContain(token);
    expect(broker.received).toEqual([]);
    return undefined;
  });

  const changed = (token: string) => {
    const [header, , signature] = token.split('.');
    const claims = {
      iss: issuer.url,
      aud: 'ot-preload',
      repository: 'labs/images',
      ref: 'refs/tags/v9',
      sub: 's',
      exp: 4e9,
    };
    return [header, Buffer.from(JSON.stringify(claims)).toString('base64url'), signature].join('.');
  };
});

describe('a good token that no rule names gets 403', () => {
  test.each([
    ['another repository', { repository: 'evil/images' }, 'claims that a rule of the issuer ci names'],
    ['another ref', { ref: 'refs/heads/main' }, 'expected a token with ref refs/tags/v*'],
  ])('%s', async (_, claims, expected) => {
    const answer = await send({ token: await issuer.token(claims) });
    expect(answer).toMatchObject({ status: 403, error: expect.stringContaining(expected) });
    expect(broker.received).toEqual([]);
  });

  test.each([
    ['an image that is not its own', { body: JSON.stringify({ name: 'windows' }) }, 'an image named lab-*'],
    ['a namespace', { body: JSON.stringify({ ...data, namespace: 'kube-system' }) }, 'with no namespace'],
    [
      'another type',
      { headers: { 'ce-type': 'dev.knative.apiserver.ref.add' } },
      'expected an event of type ot.pelotech',
    ],
  ])('%s', async (_, more, expected) => {
    const answer = await send({ token: await issuer.token(), ...more });
    expect(answer).toMatchObject({ status: 403, error: expect.stringContaining(expected) });
    expect(broker.received).toEqual([]);
  });
});

describe('what is no event of ours gets', () => {
  test.each([
    [
      '400: data with faults, all of them named',
      { body: '{"name":"Lab","secretRef":"x"}' },
      /data\.name: .*data: .*secretRef/,
    ],
    ['400: data that is no JSON', { body: '{' }, /expected one CloudEvent/],
    ['400: no id', { headers: { 'ce-id': '' } }, /expected one CloudEvent|ce\.id/],
    ['400: no CloudEvent', { headers: { 'ce-specversion': '9.9' } }, /ce\.specversion/],
    [
      '400: a batch',
      { headers: { 'content-type': 'application/cloudevents-batch+json' }, body: '[]' },
      /expected one CloudEvent/,
    ],
    ['400: of yesterday', { headers: { 'ce-time': '2026-01-01T00:00:00Z' } }, /a time of the last five hours/],
    ['400: from the future', { headers: { 'ce-time': '2100-01-01T00:00:00Z' } }, /ahead of the gateway's clock/],
  ])('%s', async (_, more, expected) => {
    const answer = await send({ token: await issuer.token(), ...more });
    expect(answer).toMatchObject({ status: 400, error: expect.stringMatching(expected) });
    expect(broker.received).toEqual([]);
  });

  test('413: more than a MiB, whether it says its length or not', async () => {
    const token = await issuer.token();
    const body = 'x'.repeat(1024 * 1024 + 1);
    expect(await send({ token, body })).toMatchObject({ status: 413 });
    const chunked = await fetch(gateway.url, {
      method: 'POST',
      headers: { ...event, authorization: `Bearer ${token}` },
      body: new Blob([body]).stream(),
      duplex: 'half',
    } as RequestInit);
    expect(chunked.status).toBe(413);
    expect(broker.received).toEqual([]);
  });

  test('405: another method; 404: another path', async () => {
    expect((await fetch(gateway.url, { method: 'PUT' })).status).toBe(405);
    expect((await fetch(`${gateway.url}/sync-operator/default`, { method: 'POST' })).status).toBe(404);
    expect((await fetch(`${gateway.url}/health/ready`)).status).toBe(200);
  });
});

describe('a caller with more events than it may', () => {
  test('must wait, and other callers need not', async () => {
    await withGateway(config({ requestsPerMinute: 2 }), async (url) => {
      const statuses: number[] = [];
      for (let count = 0; count < 5; count++) statuses.push((await send({ url, token: await issuer.token() })).status);
      // A minute may begin in between.
      expect(statuses.slice(0, 2)).toEqual([202, 202]);
      expect(statuses).toContain(429);
      expect(await send({ url, token: await issuer.token({ sub: 'another' }) })).toMatchObject({ status: 202 });
    });
    expect(lines.find(({ status }) => status === 429)?.message).toMatch(/at most 2 requests a minute; wait \d+ s/);
  });
});

describe('202 says that the image exists', () => {
  const ref = { name: data.name, namespace: 'vmdi-farm' };
  const imageIn = () => kube.get(VMDiskImage, ref);
  const repeated = { 'ce-time': new Date(Date.now() - 60_000).toISOString() };

  test('as preload makes it: its spec, its time, its field manager', async () => {
    expect(await send({ token: await issuer.token(), headers: repeated })).toMatchObject({ status: 202 });
    const time = `${repeated['ce-time'].slice(0, -5)}.000Z`;
    expect(await imageIn()).toMatchObject({
      metadata: {
        labels: { 'app.kubernetes.io/created-by': 'preload', 'app.kubernetes.io/version': 'v1.0.0' },
        annotations: { 'pelotech.ot/published-at': time, 'pelotech.ot/published-content': 'sha256:0123' },
        managedFields: [{ manager: 'preload', operation: 'Apply' }],
      },
      spec: { url: 'https://s3.eu-west-1.amazonaws.com/images/lab-151-attacker/v1.0.0.qcow2', secretRef: 's3-reader' },
    });
  });

  test('and that the same publication again changes nothing, be it from the sender or from the Broker', async () => {
    const token = await issuer.token();
    await send({ token, headers: repeated });
    const first = await imageIn();
    expect(await send({ token, headers: repeated })).toMatchObject({ status: 202 });
    const [{ headers, body } = { headers: {}, body: '' }] = broker.received;
    const attributes = Object.entries(headers).filter(([name]) => /^ce-(id|source|time|webhook)/.test(name));
    const event = Object.fromEntries(attributes.map(([name, value]) => [name.slice(3), String(value)]));
    expect(await fromBroker.message(imagePublished, JSON.parse(body), event)).toBe(202);
    expect(await imageIn()).toEqual(first);
    expect(await warnings()).toEqual([]);
  });

  test('also while the Broker does not take the event; the log says so', async () => {
    await mkdir(path('no-keys'));
    const good = { url: broker.url, tokenFile: undefined, keysFolder: path('keys') };
    for (const [address, why] of [
      [{ ...good, url: 'http://127.0.0.1:1/' }, 'fetch failed'],
      [{ ...good, tokenFile: path('none') }, 'ENOENT'],
      [{ ...good, keysFolder: path('none') }, 'ENOENT'],
      [{ ...good, keysFolder: path('no-keys') }, 'expected a key in'],
    ] as const) {
      lines.length = 0;
      const other = await start({ broker: address });
      expect(await send({ url: other.url, token: await issuer.token() })).toMatchObject({ status: 202, text: '' });
      expect(lines).toMatchObject([
        { level: 'warn', status: 202, message: expect.stringMatching(`^the Broker did not take it: .*${why}`) },
      ]);
      await other.close();
    }
    for (const answer of [401, 403, 500, 307]) {
      lines.length = 0;
      broker.answer = answer;
      expect(await send({ token: await issuer.token() })).toMatchObject({ status: 202 });
      expect(lines).toMatchObject([{ level: 'warn', message: `the Broker did not take it: it answered ${answer}` }]);
    }
    expect(broker.received).toHaveLength(4);
    expect(await imageIn()).toBeDefined();
  });
});

describe('where no image is made', () => {
  test("422: by preload's rule, with what to do; the Broker hears nothing", async () => {
    const body = JSON.stringify({ ...data, url: 'https://mirror.example/u.img', sourceType: 'http' });
    expect(await send({ token: await issuer.token(), body })).toMatchObject({
      status: 422,
      error: expect.stringMatching(/^Event 4711\.1 of .* add the line "https:\/\/mirror\.example/),
    });
    expect(lines[0]).toMatchObject({ level: 'warn', status: 422, message: expect.stringContaining('add the line') });
    expect(await warnings()).toEqual(['PublishedImageNotMade']);
    expect(broker.received).toEqual([]);
  });

  test('422: an older publication that comes late', async () => {
    const [first, second] = [-120_000, -60_000].map((ms) => ({ 'ce-time': new Date(Date.now() + ms).toISOString() }));
    const body = JSON.stringify({ ...data, name: 'lab-late' });
    const token = await issuer.token();
    expect(await send({ token, body, headers: second ?? {} })).toMatchObject({ status: 202 });
    const late = await send({ token, body, headers: first ?? {} });
    expect(late).toMatchObject({ status: 422, error: expect.stringContaining('is not after') });
    expect(broker.received).toHaveLength(1);
  });

  test('422: what the API server refuses, as an image that an admin changed', async () => {
    const spec = { url: 'https://s3.eu-west-1.amazonaws.com/images/u.img', storageClass: 'gp3', diskSize: '8Gi' };
    const metadata = { name: 'lab-theirs', namespace: 'vmdi-farm' };
    const object = { metadata, spec: { ...spec, snapshotClass: 'ebs-snapshot', secretRef: 'own' } };
    await kube.apply(VMDiskImage, object, { fieldManager: 'kubectl' });
    const body = JSON.stringify({ ...data, name: 'lab-theirs' });
    const answer = await send({ token: await issuer.token(), body });
    expect(answer).toMatchObject({ status: 422, error: expect.stringContaining('conflict') });
  });

  test.each([
    ['cannot be reached', new NoAnswer('connection refused')],
    ['refuses for now', new ApiError(429, 'TooManyRequests', 'try again')],
    ['lets the gateway read nothing', new ApiError(403, 'Forbidden', 'configmaps is forbidden')],
  ])('503: the API server %s', async (_, error) => {
    const away = { ...kube, get: () => Promise.reject(error) };
    const other = await start({}, imageMaker(verified, { kube: away, telemetry: telemetryOf('gateway') }));
    const answer = await send({ url: other.url, token: await issuer.token() });
    expect(answer).toMatchObject({ status: 503, error: 'the image cannot be made just now; try again' });
    expect(lines[0]?.message).toContain(error.message);
    expect(broker.received).toEqual([]);
    await other.close();
  });
});
