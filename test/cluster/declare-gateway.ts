import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readManifests } from '../../deploy/manifests.ts';
import { imagePublished } from '../../shared/events.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject } from '../../shared/kinds/resource.ts';
import { putImage } from '../stories/images.ts';
import { postWithFetch, takePublications } from '../stories/preload.ts';
import { setPolicy, untilPhase, type World } from '../stories/world.ts';
import { trustPublicationKey } from '../support/builders/publications.ts';
import { testCertificate } from '../support/tools/certificate.ts';
import { startTestIssuer } from '../support/tools/token-issuer.ts';
import { applyText, imageUnderTest, removeFunctions, removeObjects, textOf, withoutIpv6 } from './installation.ts';
import { installed } from './installed.ts';
import { killPods } from './kill-pods.ts';
import { clusterIpOf, kubectlOrFail, nodeAddress } from './kubectl.ts';
import { until } from './oidc-cluster.ts';
import { adminClient, onRealCluster } from './world.ts';

const operator = ['--namespace', 'sync-operator'];
const ofGateway = { namespace: 'sync-operator', name: 'gateway' };

let issuer: Awaited<ReturnType<typeof startTestIssuer>>;
let objects: KubernetesObject[] = [];
let gateway: { address: string; certificate: string };
let broker: string;

/** Posts an image of that name as the CI does, under the same id and time; resolves with the status of the answer. */
async function publish(name: string): Promise<number> {
  const headers = {
    authorization: `Bearer ${await issuer.token()}`,
    'content-type': 'application/json',
    'ce-specversion': '1.0',
    'ce-id': name,
    'ce-source': 'https://ci.example/pipelines/7',
    'ce-type': imagePublished,
    'ce-time': publishedAt,
  };
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const options = { method: 'POST', ca: gateway.certificate, agent: false, headers };
  request(`https://${gateway.address}/`, options, (response) => resolve(response.resume().statusCode ?? 0))
    .on('error', reject)
    .end(JSON.stringify({ name }));
  return promise;
}
const publishedAt = new Date().toISOString();

/** Takes the functions away, or brings them back; resolves when none, or each, has a Pod. */
async function scaleFunctions(replicas: number): Promise<void> {
  const functions = ['--selector=app.kubernetes.io/part-of=ot-functions,app.kubernetes.io/name!=gateway'];
  await kubectlOrFail('scale', 'deployments', ...operator, ...functions, `--replicas=${replicas}`);
  if (replicas === 0) await kubectlOrFail('wait', 'pods', ...operator, ...functions, '--for=delete', '--timeout=120s');
  else
    await kubectlOrFail(
      'wait',
      'deployments',
      ...operator,
      ...functions,
      '--for=condition=Available',
      '--timeout=180s',
    );
}

/** Kills the Broker's Pods, and resolves when others have taken their places. */
async function killBroker(): Promise<void> {
  const which = ['eventing.knative.dev/brokerRole=ingress', 'eventing.knative.dev/brokerRole=filter'];
  for (const selector of [...which, 'messaging.knative.dev/role=dispatcher']) {
    const podsThere = async () => {
      const uidAndReady = '{range .items[*]}{.metadata.uid}={.status.conditions[?(@.type=="Ready")].status} {end}';
      const pods = ['get', 'pods', '--namespace=knative-eventing', `--selector=${selector}`];
      const found = await kubectlOrFail(...pods, `--output=jsonpath=${uidAndReady}`);
      return found
        .trim()
        .split(' ')
        .map((one) => one.split('='));
    };
    const before = new Set((await podsThere()).map(([uid]) => uid));
    await killPods('knative-eventing', selector)();
    await until(
      `other Pods of ${selector}`,
      async () => (await podsThere()).every(([uid = '', ready]) => uid !== '' && !before.has(uid) && ready === 'True'),
      { withinMs: 120_000 },
    );
  }
}

/** Tests of the gateway, with the functions away for that long, or just as long as it takes to kill the Broker, after its 202. */
export function declareGateway({ awayForMs = 0 }: { awayForMs?: number } = {}): void {
  installed('deployments');

  beforeAll(async () => {
    // Its network policy lets the gateway reach an issuer at 443.
    issuer = await startTestIssuer('ot-preload', await nodeAddress(), 443);
    await trustPublicationKey(adminClient());
    // Without OIDC at the Broker, Knative refuses EventPolicies.
    const shipped = await readManifests('deploy/production/oidc/gateway');
    const service = shipped.filter(({ kind }) => kind === 'Service');
    await applyText(textOf(service));
    const address = await clusterIpOf('sync-operator', 'gateway');
    const { cert, key } = testCertificate(address);
    gateway = { address, certificate: cert };
    broker = `http://${await clusterIpOf('knative-eventing', 'broker-ingress')}/sync-operator/default`;
    const rule = { name: 'labs', claims: { repository: 'labs/images' }, images: 'lab-*' };
    const caFile = '/etc/gateway/config/ca.crt';
    const ci = { name: 'ci', issuer: issuer.url, caFile, audience: 'ot-preload', rules: [rule] };
    const data = {
      'gateway.yaml': JSON.stringify({ requestsPerMinute: 1000, issuers: [ci] }),
      'ca.crt': await readFile(issuer.caFile, 'utf8'),
    };
    const tls = {
      ...{ apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/tls' },
      metadata: { ...ofGateway, name: 'gateway-tls' },
      stringData: { 'tls.crt': cert, 'tls.key': key },
    };
    objects = [
      tls as unknown as KubernetesObject,
      ...shipped
        .filter(({ kind }) => kind !== 'EventPolicy')
        .map((object) => (object.kind === 'ConfigMap' ? { ...object, data } : object))
        .map(withoutIpv6),
    ];
    await applyText(textOf(objects).replaceAll('"image":"ot-functions"', `"image":"${imageUnderTest()}"`));
    await kubectlOrFail('wait', ...operator, 'deployment/gateway', '--for=condition=Available', '--timeout=120s');
  });

  afterAll(async () => {
    await removeObjects(objects);
    await removeFunctions();
    await issuer.close();
  });

  test(
    'what the gateway answered with 202 outlives the Broker and the absence of all functions, and is downloaded once',
    async () => {
      const run = async (world: World) => {
        const { kube, namespace, store } = world;
        await takePublications(world);
        const size = await putImage(world, 'lab-kept');
        for (const name of ['lab-lost', 'lab-after']) await putImage(world, name);
        const imageOf = (name: string) => kube.get(VMDiskImage, { namespace, name });

        await scaleFunctions(0);
        expect(await publish('lab-kept')).toBe(202);
        expect(await postWithFetch(broker, { data: { name: 'lab-lost' } })).toBe(202);
        const awayUntil = Date.now() + awayForMs;
        await killBroker();
        expect((await imageOf('lab-kept'))?.spec).toBeDefined();
        expect((await imageOf('lab-kept'))?.status?.phase).toBeUndefined();

        await sleep(Math.max(0, awayUntil - Date.now()));
        await scaleFunctions(1);
        const kept = await untilPhase(world, 'lab-kept', 'Succeeded', 120_000);
        expect(kept.status).toMatchObject({ revision: 1, attempts: 1 });
        expect(await publish('lab-kept')).toBe(202);
        expect(await postWithFetch(broker, { data: { name: 'lab-after' } })).toBe(202);
        await untilPhase(world, 'lab-after', 'Succeeded', 120_000);
        expect(await imageOf('lab-lost')).toBeUndefined();
        expect(world.history.starts().filter(({ image }) => image === 'lab-kept')).toHaveLength(1);
        expect(store.bytesSent('images/lab-kept.qcow2')).toBeLessThan(2 * size);
      };
      await onRealCluster({ name: 'durable', run }, { kube: adminClient(), broker });
    },
    600_000 + awayForMs,
  );

  test('it reaches the API server by its network policy, and answers 503 without that rule', async () => {
    await setPolicy({ kube: adminClient() }, { imageUrlTemplate: undefined });
    expect(await publish('lab-nowhere')).toBe(422);
    const path = '/spec/egress/1/ports';
    const patch = JSON.stringify([{ op: 'replace', path, value: [{ port: 443 }] }]);
    await kubectlOrFail('patch', 'networkpolicy', 'gateway', ...operator, '--type=json', '--patch', patch);
    // A connection that is open stays so.
    await kubectlOrFail('rollout', 'restart', ...operator, 'deployment/gateway');
    await kubectlOrFail('rollout', 'status', ...operator, 'deployment/gateway', '--timeout=120s');
    await until('503', async () => (await publish('lab-nowhere')) === 503);
  });
}
