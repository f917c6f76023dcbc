import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Account, cloudsYamlOf } from '../../../test/support/builders/openstack.ts';
import { anAccount, byHand, steppedOpenStack } from '../../../test/support/harness/openstack-harness.ts';
import { keptSpans, type ReadableSpan } from '../../../test/support/tools/spans.ts';
import { telemetryOf } from '../telemetry/telemetry.ts';
import { readCloudsYaml } from './clouds-yaml.ts';
import { openSession } from './session.ts';
import { watchedCalls } from './watched-calls.ts';

const { clock, openStack } = await steppedOpenStack();
afterAll(openStack.close);
const member = await anAccount(openStack, clock.now, 'traced');

let kept: Awaited<ReturnType<typeof keptSpans>>;
beforeEach(async () => {
  kept = await keptSpans();
});
afterEach(() => kept.shutdown());

/** A session whose calls are watched within a reconcile; its results are recorded. */
function watchedSession(file: string, answer: typeof fetch = fetch) {
  const telemetry = telemetryOf('provision-server');
  const answered: { requestId: string | null; token: string | null }[] = [];
  const noted = async (url: string, init: RequestInit) => {
    const response = await answer(url, init);
    const header = (name: string) => response.headers.get(name);
    answered.push({ requestId: header('x-openstack-request-id'), token: header('x-subject-token') });
    return response;
  };
  const session = openSession(readCloudsYaml(file), {
    fetch: noted as typeof fetch,
    now: clock.now,
    watched: watchedCalls(telemetry, clock.now),
    renewed: () => undefined,
    checked: () => undefined,
  });
  const inReconcile = (run: () => Promise<unknown>) => telemetry.span('reconcile', undefined, {}, run, []);
  return { session, inReconcile, answered };
}

const of = (account: Account = member, answer?: typeof fetch) => watchedSession(cloudsYamlOf(account), answer);
const named = (name: string) => kept.spans.find((span) => span.name === name) as ReadableSpan;

describe('the span of a call', () => {
  test('says which service was asked for what, where, how it answered, and under which request id', async () => {
    const { session, inReconcile, answered } = of();
    await inReconcile(() => session.send(byHand('compute', 'GET', '/servers/detail?name=lab-of-anna')));
    const [login, list] = answered;
    const { origin } = new URL(openStack.authUrl);
    expect(named('openstack logIn').attributes).toEqual({
      'ot.function': 'provision-server',
      'ot.openstack.service': 'identity',
      'ot.openstack.operation': 'logIn',
      'ot.openstack.request.id': login?.requestId,
      'http.request.method': 'POST',
      'http.response.status_code': 201,
      'server.address': '127.0.0.1',
      'url.full': `${openStack.authUrl}/auth/tokens`,
    });
    const listed = named('openstack byHand').attributes;
    expect(listed).toMatchObject({
      'ot.openstack.service': 'compute',
      'ot.openstack.request.id': list?.requestId,
      'http.request.method': 'GET',
      'http.response.status_code': 200,
    });
    expect(listed['url.full']).toMatch(new RegExp(`^${origin}/.*/servers/detail$`));
    expect(list?.requestId).toMatch(/^req-/);
  });
  test('is a client, under the reconcile, and no error where the call succeeds', async () => {
    const { session, inReconcile } = of();
    await inReconcile(() => session.send(byHand('network', 'GET', '/v2.0/networks')));
    const { spanId, traceId } = named('reconcile').spanContext();
    for (const name of ['openstack logIn', 'openstack byHand']) {
      const { kind, parentSpanContext, status } = named(name);
      expect({ kind, parentSpanContext, status }).toMatchObject({
        kind: SpanKind.CLIENT,
        parentSpanContext: { spanId, traceId },
        status: { code: SpanStatusCode.UNSET },
      });
    }
  });
  test.each([
    ['compute', '/servers/none'],
    ['volume', '/volumes/none'],
    ['network', '/v2.0/networks/none'],
    ['image', '/v2/images/none'],
    ['identity', '/credentials/none/none'],
  ] as const)('of a refusal of %s is an error, with its status and its request id', async (service, path) => {
    const { session, inReconcile } = of();
    await inReconcile(() => session.send(byHand(service, 'GET', path))).catch(() => undefined);
    const { attributes, status } = named('openstack byHand');
    expect(status).toEqual({ code: SpanStatusCode.ERROR });
    expect(attributes).toMatchObject({ 'error.type': '404', 'http.response.status_code': 404 });
    expect(attributes['ot.openstack.request.id']).toMatch(/^req-/);
  });
  test('of a call without an answer is an error, with the request', async () => {
    const { session, inReconcile } = of(member, (async () => {
      throw new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } });
    }) as typeof fetch);
    await inReconcile(() => session.login()).catch(() => undefined);
    const { attributes, status } = named('openstack logIn');
    expect(status).toEqual({ code: SpanStatusCode.ERROR });
    expect(attributes).toMatchObject({ 'error.type': 'Unreachable', 'url.full': `${openStack.authUrl}/auth/tokens` });
    expect(attributes).not.toHaveProperty('http.response.status_code');
  });
  test('at an invalid address exists too', async () => {
    const { session, inReconcile } = of({ ...member, authUrl: 'http://:::/v3' });
    await inReconcile(() => session.login()).catch(() => undefined);
    expect(named('openstack logIn').attributes).toMatchObject({ 'error.type': 'Unreachable' });
  });
});

describe('no span has', () => {
  const told = () =>
    JSON.stringify(kept.spans.map(({ name, attributes, events, status }) => [name, attributes, events, status]));

  test('a password or a token, be they taken or refused', async () => {
    const { session, inReconcile, answered } = of();
    await inReconcile(() => session.send(byHand('compute', 'GET', '/servers')));
    const wrong = of({ ...member, password: 'a-wrong-password' });
    await wrong.inReconcile(() => wrong.session.login()).catch(() => undefined);
    expect(kept.spans.filter(({ name }) => name === 'openstack logIn')).toHaveLength(2);
    const [{ token } = { token: null }] = answered;
    expect(token).toBeTruthy();
    for (const secret of [member.password, 'a-wrong-password', token as string]) expect(told()).not.toContain(secret);
  });
  test("an application credential's secret, be it taken or refused", async () => {
    const { user } = await of().session.login();
    const made = (await of().session.send(
      byHand('identity', 'POST', `/users/${user.id}/application_credentials`, {
        application_credential: { name: 'of the test' },
      }),
    )) as { application_credential: { id: string; secret: string } };
    const { id, secret } = made.application_credential;
    const file = (words: string) =>
      `clouds: { openstack: { auth_type: v3applicationcredential, auth: { auth_url: '${openStack.authUrl}', application_credential_id: ${id}, application_credential_secret: ${words} } } }`;
    const right = watchedSession(file(secret));
    await right.inReconcile(() => right.session.send(byHand('compute', 'GET', '/servers')));
    const wrong = watchedSession(file('a-wrong-secret'));
    await wrong.inReconcile(() => wrong.session.login()).catch(() => undefined);
    expect(right.answered[0]?.token).toBeTruthy();
    for (const hidden of [secret, 'a-wrong-secret', right.answered[0]?.token as string])
      expect(told()).not.toContain(hidden);
  });
  test('the words of a query, nor who is named in an address', async () => {
    const call = {
      service: 'image',
      operation: 'listImages',
      method: 'GET',
      url: 'https://anna:hunter2@glance.example/v2/images?name=of-anna',
    } as const;
    const sent = { status: 200, text: '', requestId: '', retryAfter: null, token: null };
    await watchedCalls(telemetryOf('test'), clock.now)(call, async () => sent);
    expect(named('openstack listImages').attributes['url.full']).toBe('https://glance.example/v2/images');
    expect(told()).not.toMatch(/anna|hunter2/);
  });
});
