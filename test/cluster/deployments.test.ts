import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applyText, textOf } from './installation.ts';
import { kubectlOrFail, nodeAddress } from './kubectl.ts';
import { until } from './oidc-cluster.ts';
import { ofDeployments, runOnReal } from './run-on-real.ts';

runOnReal('deployments', ofDeployments);

const operator = ['--namespace', 'sync-operator'];

/** Prints for each URL the HTTP status of its answer, or why it has none. */
const asks = (urls: readonly string[]) => `
  const ask = (url) => fetch(url, { signal: AbortSignal.timeout(3000) }).then(({ status }) => status, ({ name, cause }) => cause?.code ?? name);
  const urls = ${JSON.stringify(urls)};
  Promise.all(urls.map(ask)).then((found) => console.log(JSON.stringify(found)));`;

/** What a network that enforces policies says of a connection that none allows; others drop it until it times out. */
const unreachable = /^(ECONNREFUSED|ECONNRESET|TimeoutError)$/;

// Only test/cluster/on-own-cluster makes a cluster whose network enforces policies.
describe.skipIf(!process.env.OT_NETWORK_POLICIES)('the network policies of an installation', () => {
  const pod = 'mallory';
  /** What a Pod of a tenant is answered. */
  const fromTenant = async (urls: readonly string[]): Promise<(number | string)[]> => {
    const command = ['/nodejs/bin/node', '-e', asks(urls)];
    const containers = [{ name: 'asks', image: process.env.OT_WORKLOAD_IMAGE, imagePullPolicy: 'Never', command }];
    const metadata = { name: pod, namespace: 'lab' };
    await applyText(
      textOf([{ apiVersion: 'v1', kind: 'Pod', metadata, spec: { restartPolicy: 'Never', containers } }]),
    );
    await kubectlOrFail('wait', '--namespace=lab', `pod/${pod}`, '--for=jsonpath={.status.phase}=Succeeded');
    const found = JSON.parse(await kubectlOrFail('logs', '--namespace=lab', pod));
    await kubectlOrFail('delete', 'pod', '--namespace=lab', pod, '--grace-period=0', '--force');
    return found;
  };
  /** What the process of a function is answered, if an attacker takes it over. */
  const fromFunction = async (name: string, urls: readonly string[]): Promise<(number | string)[]> =>
    JSON.parse(await kubectlOrFail('exec', ...operator, `deploy/${name}`, '--', '/nodejs/bin/node', '-e', asks(urls)));
  const addressOf = (name: string) =>
    kubectlOrFail(
      'get',
      'pods',
      ...operator,
      `--selector=app.kubernetes.io/name=${name}`,
      '--output=jsonpath={.items[0].status.podIP}',
    );

  const broker = 'http://broker-ingress.knative-eventing.svc.cluster.local/sync-operator/default';
  const outside = createServer((_, response) => response.end());
  let service: string;
  let doors: string[];
  let beside: string;
  beforeAll(async () => {
    const [preload, startSync] = await Promise.all(['preload', 'start-sync'].map(addressOf));
    // Not by name: DNS remembers for a while where the Knative Service of that name was.
    service = `http://${await kubectlOrFail('get', 'service', 'preload', ...operator, '--output=jsonpath={.spec.clusterIP}')}`;
    doors = [service, `http://${preload}:8080`, `http://${startSync}:8080`, `http://${startSync}:9464/metrics`];
    const node = await nodeAddress();
    await new Promise<void>((resolve) => outside.listen(0, node, resolve));
    beside = `http://${node}:${(outside.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => outside.close(resolve)));

  test('a Pod of a tenant that posts to a function past the Broker, or reads its metrics, is refused', async () => {
    const [ofBroker, ...ofDoors] = await fromTenant([broker, ...doors]);
    expect(ofBroker).toBe(405);
    expect(ofDoors.map(String)).toEqual(doors.map(() => expect.stringMatching(unreachable)));
  });

  test('a function whose process an attacker took over reaches the API server and the Broker, and no other address', async () => {
    const urls = ['https://kubernetes.default.svc', broker, beside, service];
    const [apiServer, ofBroker, ...others] = await fromFunction('preload', urls);
    // Its certificate is unknown to this script, which shows that it answered.
    expect(apiServer).toBe('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
    expect(ofBroker).toBe(405);
    expect(others.map(String)).toEqual(others.map(() => expect.stringMatching(unreachable)));
  });

  test('it is these policies that stop them: without, all of it is open', async () => {
    await kubectlOrFail('delete', 'networkpolicies', ...operator, 'functions', 'default-deny');
    // The network hears of it a moment later.
    const reached = async () => (await fromFunction('preload', [beside]))[0] === 200;
    await until('the network to be open', reached);
    const found = await fromTenant(doors);
    expect(found.filter((one) => typeof one !== 'number')).toEqual([]);
  });
});
