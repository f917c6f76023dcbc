import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LogLine } from '../../deploy/gateway/app.ts';
import { startGateway } from '../../deploy/gateway/start.ts';
import { applyManifests } from '../../deploy/manifests.ts';
import { imagePublished } from '../../shared/events.ts';
import type { KubernetesObject } from '../../shared/kinds/resource.ts';
import { kubeClient } from '../../shared/runtime/kube.ts';
import { publisher } from '../../shared/runtime/publish.ts';
import { publicationKey } from '../support/builders/publications.ts';
import { startTestIssuer } from '../support/tools/token-issuer.ts';
import { eventPolicies, field, kubectl, movedManifests, startSubscriber, until, untilReady } from './oidc-cluster.ts';

const hasKnative = await kubectl('get', 'crd', 'eventpolicies.eventing.knative.dev').then(
  () => true,
  () => false,
);
if (!hasKnative) console.warn('skipped: the secure way in needs a cluster with Knative Eventing');

/** Namespaces of its own; the manifests name them instead of the operator's. */
const namespace = `way-in-${process.pid}`;
const ci = `${namespace}-ci`;
const audience = `eventing.knative.dev/broker/${namespace}/default`;
const features = ['configmap', 'config-features', '-n', 'knative-eventing'];
const succeeded = 'ot.pelotech.disk-image.succeeded.v1';

const switchFeature = (value: string | null) =>
  kubectl('patch', ...features, '--type=merge', '-p', JSON.stringify({ data: { 'authentication-oidc': value } }));

const freshId = () => crypto.randomUUID();
const tokenOf = (account: string, of = namespace, forWhom = audience) =>
  kubectl('create', 'token', account, '-n', of, '--audience', forWhom);

/** An event's headers, with a token where there is one. */
const headersOf = (token: string | undefined, type: string, id: string) => ({
  ...(token ? { authorization: `Bearer ${token}` } : {}),
  'content-type': 'application/json',
  'ce-specversion': '1.0',
  'ce-id': id,
  'ce-source': '/test',
  'ce-type': type,
});

async function postTo(url: string, headers: Record<string, string>, body = '{}'): Promise<number> {
  const response = await fetch(url, { method: 'POST', headers, body });
  await response.body?.cancel();
  return response.status;
}

const trigger = (
  name: string,
  subscriber: object,
  { broker = 'default', ...more }: { broker?: string; [field: string]: unknown } = {},
) =>
  ({
    apiVersion: 'eventing.knative.dev/v1',
    kind: 'Trigger',
    metadata: { name, namespace, labels: { 'eventing.knative.dev/broker': broker } },
    spec: { broker, subscriber, ...more },
  }) as unknown as KubernetesObject;

/**
 * Everything of the manifests that posts to the Broker or permits it; the timer ticks quicker, and the Broker's
 * dead letters go where this test hears them: a Broker is not Ready before its sink exists, and no function is installed.
 */
async function senders(deadLetterSink: { uri: string }): Promise<KubernetesObject[]> {
  const moved = (...folders: string[]) => movedManifests({ namespace, ci }, ...folders);
  const wanted =
    /^(Namespace|Broker|EventPolicy)\/|^ServiceAccount\/(?!source-p)|\/(source-own|images-own|images-sweep)$/;
  const found = [
    ...(await moved('deploy/base', 'knative/base')),
    ...(await moved('deploy/production/oidc', 'deploy/production/oidc/gateway')),
    ...(await moved('deploy/production/oidc/in-cluster-pipelines')),
  ].filter(({ kind, metadata }) => wanted.test(`${kind}/${metadata.name}`));
  return found.map((object) => {
    if (object.kind === 'PingSource') return withSpec(object, { schedule: '*/2 * * * * *' });
    return object.kind === 'Broker' ? withSpec(object, { delivery: { deadLetterSink } }) : object;
  });
}

const withSpec = (object: KubernetesObject, more: object) =>
  ({ ...object, spec: { ...(object as unknown as { spec: object }).spec, ...more } }) as KubernetesObject;

describe.skipIf(!hasKnative)('a Broker with OIDC and our EventPolicies', () => {
  let subscriber: Awaited<ReturnType<typeof startSubscriber>>;
  let broker: string;
  let folder: string;
  let before: { feature: string; policies: string[] };
  const post = (token: string | undefined, type: string, id = freshId()) => postTo(broker, headersOf(token, type, id));

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'way-in-'));
    before = { feature: await field('.data.authentication-oidc', ...features), policies: await eventPolicies() };
    const node = await field('.items[0].status.addresses[?(@.type=="InternalIP")].address', 'nodes');
    broker = `http://${await field('.spec.clusterIP', 'service', 'broker-ingress', '-n', 'knative-eventing')}/${namespace}/default`;
    subscriber = await startSubscriber(node);
    await switchFeature('enabled');
    const config = new KubeConfig();
    config.loadFromDefault();
    const to = (path: string) => ({ uri: `${subscriber.url}${path}` });
    const objects = [
      ...(await senders(to('/dead-letters'))),
      trigger('all', to('/all')),
      // What sources and timers post goes to the Broker of their system.
      trigger('all-of-images', to('/all'), { broker: 'images' }),
      trigger('asks-who', { ...to('/asks-who'), audience: 'a-function' }, { broker: 'images' }),
      trigger('failing', to('/failing'), {
        filters: [{ exact: { type: imagePublished } }],
        delivery: { deadLetterSink: to('/dead-letters') },
      }),
    ];
    // The webhook hears of the feature a moment later, and refuses policies until then.
    await until('the manifests to be accepted', () =>
      applyManifests(kubeClient(config), objects).then(
        () => true,
        (error: Error) => (/feature not enabled/.test(error.message) ? false : Promise.reject(error)),
      ),
    );
    for (const { kind, metadata } of objects) {
      if (!/^(Broker|Trigger|ApiServerSource|PingSource|EventPolicy)$/.test(kind)) continue;
      await untilReady(kind, metadata.name, namespace, 120_000);
    }
    await until('the Broker to ask for a token', async () => (await post(undefined, imagePublished)) === 401);
  }, 300_000);

  /** First the policies, then the feature, then what Knative itself leaves: in this order no event is refused meanwhile. */
  async function switchOff() {
    await kubectl(
      'delete',
      'eventpolicies',
      '-n',
      namespace,
      '--ignore-not-found',
      '-l',
      'app.kubernetes.io/part-of=ot-functions',
    );
    await switchFeature(before.feature || null);
    await until('the Broker to ask for no token', async () => (await post(undefined, imagePublished)) !== 401);
    for (const left of (await eventPolicies()).filter((one) => !before.policies.includes(one))) {
      const [of = '', name = ''] = left.split('/');
      await kubectl('delete', 'eventpolicy', name, '-n', of, '--ignore-not-found');
    }
  }

  afterAll(async () => {
    if ((await field('.data.authentication-oidc', ...features)) !== before.feature) await switchOff();
    await kubectl('delete', 'namespace', namespace, ci, '--ignore-not-found');
    await subscriber.close();
    await rm(folder, { recursive: true });
  }, 120_000);

  test('refuses who does not say who it is, or says it to another: 401', async () => {
    expect(await post(undefined, imagePublished)).toBe(401);
    expect(await post('no.token.atall', imagePublished)).toBe(401);
    for (const another of [
      'eventing.knative.dev/broker/another/default',
      'https://kubernetes.default.svc.cluster.local',
    ]) {
      expect(await post(await tokenOf('gateway', namespace, another), imagePublished)).toBe(401);
    }
  });

  test('refuses who is not named, in its own namespace or another: 403', async () => {
    await kubectl('create', 'serviceaccount', 'another-pipeline', '-n', namespace);
    expect(await post(await tokenOf('another-pipeline'), imagePublished)).toBe(403);
    expect(await post(await tokenOf('default', ci), imagePublished)).toBe(403);
  });

  test.each([
    ['gateway', namespace, imagePublished, 202],
    ['gateway', namespace, succeeded, 403],
    ['gateway', namespace, 'dev.knative.apiserver.ref.add', 403],
    ['gateway', namespace, 'dev.knative.sources.ping', 403],
    ['image-pipeline', ci, imagePublished, 202],
    ['image-pipeline', ci, 'dev.knative.sources.ping', 403],
    ['start-sync', namespace, succeeded, 202],
    ['start-sync', namespace, imagePublished, 403],
  ])('the ServiceAccount %s of %s that posts %s gets %i', async (account, of, type, status) => {
    expect(await post(await tokenOf(account, of), type)).toBe(status);
  });

  test('still hears sources and timers, and says who it is to a subscriber only where that has an audience', async () => {
    await kubectl('create', 'configmap', 'a-change', '-n', namespace);
    const { headers } = await subscriber.hears('/all', 'name', 'a-change');
    expect(headers).toMatchObject({ 'ce-type': 'dev.knative.apiserver.ref.add' });
    expect(headers.authorization).toBeUndefined();
    const asked = await subscriber.hears('/asks-who', 'name', 'a-change');
    expect(decodeJwt(asked.headers.authorization?.replace('Bearer ', '') ?? '')).toMatchObject({ aud: ['a-function'] });
    await subscriber.hears('/all', 'type', 'dev.knative.sources.ping');
  });

  test('still brings what a function refuses to the dead letters', async () => {
    const id = freshId();
    expect(await post(await tokenOf('gateway'), imagePublished, id)).toBe(202);
    const { headers } = await subscriber.hears('/dead-letters', 'id', id);
    expect(headers['ce-knativeerrorcode']).toBe('400');
  });

  test('takes what a function tells with the token in its file', async () => {
    const tokenFile = join(folder, 'start-sync');
    await writeFile(tokenFile, await tokenOf('start-sync'));
    const id = freshId();
    publisher(
      () => broker,
      '/start-sync',
      fetch,
      () => tokenFile,
    ).publish({ type: succeeded, id, subject: 's', data: {} }, undefined);
    await subscriber.hears('/all', 'id', id);
  });

  test("takes a pipeline's event by way of the gateway: from the CI's own token to the subscriber", async () => {
    const issuer = await startTestIssuer('ot-preload');
    const [configFile, tokenFile] = [join(folder, 'gateway.yaml'), join(folder, 'gateway')];
    const keysFolder = await mkdtemp(join(folder, 'keys-'));
    await writeFile(join(keysFolder, 'tests'), publicationKey);
    const rule = { name: 'labs', claims: { repository: 'labs/images', ref: 'refs/tags/v*' }, images: 'lab-*' };
    const ours = { name: 'ci', issuer: issuer.url, caFile: issuer.caFile, audience: 'ot-preload', rules: [rule] };
    await writeFile(configFile, JSON.stringify({ issuers: [ours] }));
    await writeFile(tokenFile, await tokenOf('gateway'));
    const where = { port: 0, host: '127.0.0.1', rereadMs: 3_600_000 };
    const lines: LogLine[] = [];
    const gateway = await startGateway(
      { configFile, tls: 'plain-http', broker: { url: broker, tokenFile, keysFolder }, ...where },
      { make: async () => undefined, find: async () => undefined },
      (line) => lines.push(line),
    );
    const publish = async (id: string, claims: { repository?: string } = {}) =>
      postTo(gateway.url, headersOf(await issuer.token(claims), imagePublished, id), '{"name":"lab-151-attacker"}');
    try {
      const [good, bad] = [freshId(), freshId()];
      expect(await publish(bad, { repository: 'evil/images' })).toBe(403);
      expect(await publish(good)).toBe(202);
      const { headers, body } = await subscriber.hears('/all', 'id', good);
      expect(headers['ce-authid']).toBe('repo:labs/images:ref:refs/tags/v1.0.0');
      expect(JSON.parse(body)).toEqual({ name: 'lab-151-attacker' });
      expect(subscriber.heard.some((one) => one.headers['ce-id'] === bad)).toBe(false);
      await writeFile(tokenFile, await tokenOf('gateway', namespace, 'another'));
      expect(await publish(freshId())).toBe(202);
      expect(lines.at(-1)).toMatchObject({ level: 'warn', message: 'the Broker did not take it: it answered 401' });
    } finally {
      await gateway.close();
      await issuer.close();
    }
  });

  test('is open again when all of it is switched off, and nothing of it is left', async () => {
    await switchOff();
    await untilReady('inmemorychannel', 'default-kne-trigger', namespace);
    await untilReady('broker', 'default', namespace);
    expect(await eventPolicies()).toEqual(before.policies);
    // Ingress, channel and filter learn of it one by one, and say so nowhere: what comes in between is refused on its way.
    const posted = new Set<unknown>();
    await until('an event without a token to be taken and to arrive', async () => {
      const id = freshId();
      if ((await post(undefined, imagePublished, id)) === 202) posted.add(id);
      return subscriber.heard.some(({ path, headers }) => path === '/all' && posted.has(headers['ce-id']));
    });
  }, 120_000);
});
