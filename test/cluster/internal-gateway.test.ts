import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readManifests } from '../../deploy/manifests.ts';
import { imagePublished } from '../../shared/events.ts';
import { putImage } from '../stories/images.ts';
import { postWithFetch, takePublications } from '../stories/preload.ts';
import { untilPhase } from '../stories/world.ts';
import { applyText, removeObjects, textOf } from './installation.ts';
import { installed } from './installed.ts';
import { kubectlOrFail, nodeAddress } from './kubectl.ts';
import { until } from './oidc-cluster.ts';
import { component, haveNoRuleTooMany, standIns, unreachable } from './stand-ins.ts';
import { adminClient, onRealCluster } from './world.ts';

// Only test/cluster/on-own-cluster makes a cluster whose network enforces policies.
describe.skipIf(!process.env.OT_NETWORK_POLICIES)('with Knative Serving, a function', () => {
  const broker = installed('serving');
  const there = standIns(
    {
      tenant: { namespace: 'default', labels: {} },
      partner: { namespace: 'partner', labels: {} },
      filter: { namespace: 'knative-eventing', labels: component('broker-filter') },
      serving: { namespace: 'knative-serving', labels: {} },
      activator: { namespace: 'knative-serving', labels: { app: 'activator' }, listensAt: [8008, 8012] },
      // As Kourier's listeners: 8080 passes on what is public, 8081 everything.
      gateway: {
        namespace: 'kourier-system',
        labels: { app: '3scale-kourier-gateway' },
        passesOn: { 8080: 80, 8081: 8080 },
      },
      kourier: { namespace: 'kourier-system', labels: {} },
    },
    { partner: { 'pelotech.ot/internal-gateway': 'allowed' }, 'kourier-system': {} },
  );
  const { addressOf, asPod, at } = there;

  /** Leads what is called by a name inside the cluster to that gateway. */
  const lead = (address: string, port: number) => {
    const patch = JSON.stringify({ endpoints: [{ addresses: [address] }], ports: [{ name: 'http', port }] });
    const gateway = ['endpointslice', 'local-ingress', '--namespace=knative-serving'];
    return kubectlOrFail('patch', ...gateway, '--type=merge', `--patch=${patch}`);
  };
  const policies = readManifests('deploy/production/internal-gateway');
  beforeAll(async () => lead(await addressOf('gateway'), 8081));
  afterAll(async () => {
    await lead(await nodeAddress(), 8080);
    await removeObjects(await policies);
  });

  /** What is answered to an unsigned publication that is posted to preload past the Broker. */
  async function posted(who: 'tenant' | 'partner') {
    const path = '--output=jsonpath={.status.latestReadyRevisionName}';
    const revision = await kubectlOrFail(
      'get',
      'services.serving.knative.dev',
      'preload',
      '--namespace=sync-operator',
      path,
    );
    const [byGateway, byActivator] = await asPod(
      who,
      ['http://preload.sync-operator.svc.cluster.local', 'http://activator-service.knative-serving.svc.cluster.local'],
      {
        method: 'POST',
        headers: {
          'knative-serving-namespace': 'sync-operator',
          'knative-serving-revision': revision,
          'content-type': 'application/json',
          'ce-specversion': '1.0',
          'ce-id': 'feigned',
          'ce-source': 'https://mallory.example',
          'ce-type': imagePublished,
        },
        body: '{"name":"feigned"}',
      },
    );
    return { byGateway, byActivator };
  }
  const closed = expect.stringMatching(unreachable);

  test('is reached past its policies by every Pod, through the internal gateway and through the activator', async () => {
    await until('the gateway to lead to it', async () => (await posted('tenant')).byGateway === 202);
    expect(await posted('tenant')).toEqual({ byGateway: 202, byActivator: 202 });
  });

  test('is reached by labelled namespaces only, with the component of production; what is public stays open', async () => {
    await applyText(textOf(await policies));
    await until('the gateway to be closed', async () => typeof (await posted('tenant')).byGateway === 'string');
    expect(await posted('tenant')).toEqual({ byGateway: closed, byActivator: closed });
    expect(await posted('partner')).toEqual({ byGateway: 202, byActivator: closed });
    // No Knative Service has that name: the gateway itself answers.
    expect(await asPod('tenant', [await at('gateway', 8080)()])).toEqual([404]);
  });

  test('has the publications that the Broker delivers, as before', async () => {
    await onRealCluster(
      {
        name: 'gateway-closed',
        run: async (world) => {
          await takePublications(world);
          await putImage(world, 'published');
          expect(await postWithFetch(world.broker, { data: { name: 'published' } })).toBe(202);
          await untilPhase(world, 'published', 'Succeeded', 60_000);
        },
      },
      { kube: adminClient(), broker: `${broker()}/sync-operator/default` },
    );
  });

  haveNoRuleTooMany(
    { 'ot-functions-internal-gateway': 'kourier-system', 'ot-functions-activator': 'knative-serving' },
    [
      ['ot-functions-internal-gateway ingress 8080', 'the public comes in', 'tenant', at('gateway', 8080)],
      ['ot-functions-internal-gateway ingress knative-eventing', 'the Broker delivers', 'filter', at('gateway', 8081)],
      ['ot-functions-internal-gateway ingress knative-serving', 'a route is probed', 'serving', at('gateway', 8081)],
      ['ot-functions-internal-gateway ingress kourier-system', 'a DomainMapping leads', 'kourier', at('gateway', 8081)],
      ['ot-functions-internal-gateway ingress allowed', 'a partner calls', 'partner', at('gateway', 8081)],
      ['ot-functions-activator ingress 8008', 'the public reads metrics', 'tenant', at('activator', 8008)],
      ['ot-functions-activator ingress kourier-system', 'the gateway wakes', 'gateway', at('activator', 8012)],
      ['ot-functions-activator ingress knative-serving', 'the autoscaler probes', 'serving', at('activator', 8012)],
    ],
    there,
  );
});
