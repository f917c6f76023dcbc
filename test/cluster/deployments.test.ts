import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { documents } from '../../deploy/manifests.ts';
import { applyText, textOf, withoutIpv6 } from './installation.ts';
import { kubectlOrFail, nodeAddress } from './kubectl.ts';
import { until } from './oidc-cluster.ts';
import { ofDeployments, runOnReal } from './run-on-real.ts';
import { answersTo, component, haveNoRuleTooMany, ofService, standIns, unreachable } from './stand-ins.ts';

runOnReal('deployments', ofDeployments);

const operator = ['--namespace', 'sync-operator'];
const broker = 'http://broker-ingress.knative-eventing.svc.cluster.local/sync-operator/default';

/** A server beside the cluster, at an address of the node. */
async function serverAt(host: string, port = 0) {
  const server = createServer((_, response) => response.end());
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

// Only test/cluster/on-own-cluster makes a cluster whose network enforces policies.
describe.skipIf(!process.env.OT_NETWORK_POLICIES)('the network policies of an installation', () => {
  const there = standIns(
    {
      tenant: { namespace: 'default', labels: {} },
      filter: { namespace: 'knative-eventing', labels: component('broker-filter') },
      activator: { namespace: 'knative-serving', labels: component('activator') },
      monitoring: { namespace: 'monitoring', labels: {}, listensAt: [4318] },
      adapter: {
        namespace: 'sync-operator',
        labels: { 'eventing.knative.dev/source': 'apiserver-source-controller' },
        listensAt: [9090],
      },
      function: {
        namespace: 'sync-operator',
        labels: { 'app.kubernetes.io/part-of': 'ot-functions', 'app.kubernetes.io/name': 'prune' },
        listensAt: [8080, 8012, 9464],
      },
    },
    { monitoring: {} },
  );
  const { asPod, at } = there;
  /** What the process of a function is answered, if an attacker takes it over. */
  const fromFunction = (name: string, urls: readonly string[]) => answersTo('sync-operator', `deploy/${name}`, urls);
  const addressOf = (name: string) =>
    kubectlOrFail(
      'get',
      'pods',
      ...operator,
      `--selector=app.kubernetes.io/name=${name}`,
      '--output=jsonpath={.items[0].status.podIP}',
    );

  let outside: Awaited<ReturnType<typeof serverAt>>;
  let service: string;
  let doors: string[];
  beforeAll(async () => {
    const [preload, startSync] = await Promise.all(['preload', 'start-sync'].map(addressOf));
    // Not by name: DNS remembers for a while where the Knative Service of that name was.
    service = await ofService('sync-operator', 'preload')();
    doors = [service, `http://${preload}:8080`, `http://${startSync}:8080`, `http://${startSync}:9464/metrics`];
    outside = await serverAt(await nodeAddress());
  });
  afterAll(() => outside.close());

  test('a Pod of a tenant that posts to a function past the Broker, or reads its metrics, is refused', async () => {
    const [ofBroker, ...ofDoors] = await asPod('tenant', [broker, ...doors]);
    expect(ofBroker).toBe(405);
    expect(ofDoors.map(String)).toEqual(doors.map(() => expect.stringMatching(unreachable)));
  });

  test('a function whose process an attacker took over reaches the API server and the Broker, and no other address', async () => {
    const urls = ['https://kubernetes.default.svc', broker, outside.url, service];
    const [apiServer, ofBroker, ...others] = await fromFunction('preload', urls);
    // Its certificate is unknown to this script, which shows that it answered.
    expect(apiServer).toBe('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
    expect(ofBroker).toBe(405);
    expect(others.map(String)).toEqual(others.map(() => expect.stringMatching(unreachable)));
  });

  describe('as it is installed', () => {
    const ofEventing = ofService('knative-eventing', 'broker-ingress');
    const ofApiServer = ofService('default', 'kubernetes', 'https');
    haveNoRuleTooMany(
      { functions: 'sync-operator', sources: 'sync-operator' },
      [
        ['functions ingress 8080', 'the Broker delivers an event', 'filter', at('function', 8080)],
        ['functions ingress 8012', 'the activator wakes a function', 'activator', at('function', 8012)],
        ['functions ingress 9464', 'Prometheus reads the metrics of a function', 'monitoring', at('function', 9464)],
        ['functions egress 53', 'a function finds the Broker by its name', 'function', async () => broker],
        ['functions egress 443', 'a function reads an object', 'function', ofApiServer],
        ['functions egress 8080', 'a function publishes', 'function', ofEventing],
        ['functions egress 4317', 'a function sends its traces', 'function', at('monitoring', 4318)],
        ['sources ingress 9090', 'Prometheus reads the metrics of a source', 'monitoring', at('adapter', 9090)],
        ['sources egress 53', 'a source finds the Broker by its name', 'adapter', async () => broker],
        ['sources egress 443', 'a source watches objects', 'adapter', ofApiServer],
        ['sources egress 8080', 'a source sends an event', 'adapter', ofEventing],
      ],
      there,
    );
  });

  test('it is these policies that stop them: without, all of it is open', async () => {
    await kubectlOrFail('delete', 'networkpolicies', ...operator, 'functions', 'default-deny');
    // The network hears of it a moment later.
    const reached = async () => (await fromFunction('preload', [outside.url]))[0] === 200;
    await until('the network to be open', reached);
    const found = await asPod('tenant', doors);
    expect(found.filter((one) => typeof one !== 'number')).toEqual([]);
  });
});

describe.skipIf(!process.env.OT_NETWORK_POLICIES)('the network policy of importers', () => {
  const there = standIns(
    {
      importer: { namespace: 'vmdi-farm', labels: { app: 'containerized-data-importer' }, listensAt: [8080, 8443] },
      prometheus: { namespace: 'default', labels: {} },
    },
    {},
  );
  const { asPod, at } = there;
  let store: Awaited<ReturnType<typeof serverAt>>;
  let metadata: Awaited<ReturnType<typeof serverAt>>;
  let nodeLocalDns: Awaited<ReturnType<typeof serverAt>>;
  beforeAll(async () => {
    store = await serverAt(await nodeAddress());
    [metadata, nodeLocalDns] = await Promise.all([
      linkLocalAt('169.254.169.254', 80),
      linkLocalAt('169.254.20.10', 53),
    ]);
  });
  afterAll(async () => {
    await kubectlOrFail('delete', 'networkpolicy', 'importers', '--namespace=vmdi-farm');
    await Promise.all([store, metadata, nodeLocalDns].map((server) => server.close()));
  });

  /** The node of a cluster of its own, whose network is its own too, answers its Pods at that address as a cloud would. */
  async function linkLocalAt(address: string, port: number) {
    await promisify(execFile)('ip', ['address', 'replace', `${address}/32`, 'dev', 'lo']);
    return serverAt(address, port);
  }

  test('keeps them from the metadata service of a cloud, and not from a store or a server of the cluster', async () => {
    const urls = () => [metadata.url, store.url, broker];
    expect(await asPod('importer', urls())).toEqual([200, 200, 405]);
    const policies = documents(
      await readFile(new URL('../../deploy/production/importers.yaml', import.meta.url), 'utf8'),
    );
    await applyText(textOf(policies.map(withoutIpv6)), '--namespace=vmdi-farm');
    const isClosed = async () => unreachable.test(String((await asPod('importer', urls()))[0]));
    await until('the metadata service to be out of reach', isClosed);
    expect((await asPod('importer', urls())).slice(1)).toEqual([200, 405]);
    const [progress, other] = await asPod('prometheus', [await at('importer', 8443)(), await at('importer', 8080)()]);
    expect(progress).toBe(200);
    expect(other).toMatch(unreachable);
  });

  haveNoRuleTooMany(
    { importers: 'vmdi-farm' },
    [
      ['importers ingress 8443', 'Prometheus reads the progress', 'prometheus', at('importer', 8443)],
      ['importers egress anywhere', 'an importer downloads', 'importer', async () => store.url],
      ['importers egress 53', 'an importer asks NodeLocal DNSCache', 'importer', async () => nodeLocalDns.url],
    ],
    there,
  );
});
