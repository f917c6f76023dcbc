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
const unreachable = /^(ECONNREFUSED|ECONNRESET|TimeoutError|EAI_AGAIN)$/;

/** A Pod that stands for one of its labels: what it listens at answers 200, and it asks as the Pod that it stands for. */
interface StandIn {
  namespace: string;
  labels: Record<string, string>;
  listensAt: number[];
}

const standIns: Readonly<Record<string, StandIn>> = {
  filter: { namespace: 'knative-eventing', labels: component('broker-filter'), listensAt: [] },
  activator: { namespace: 'knative-serving', labels: component('activator'), listensAt: [] },
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
};

function component(name: string) {
  return { 'app.kubernetes.io/component': name };
}

/** One of them as a Pod. It is never ready, so that no Service leads to it. */
function podOf([name, { namespace, labels, listensAt }]: [string, StandIn]) {
  const script = `for (const port of ${JSON.stringify(listensAt)}) require('http').createServer((_, r) => r.end()).listen(port);
    process.on('SIGTERM', () => process.exit()); setInterval(() => {}, 60_000);`;
  const container = {
    name: 'stands-in',
    image: process.env.OT_WORKLOAD_IMAGE,
    imagePullPolicy: 'Never',
    command: ['/nodejs/bin/node', '-e', script],
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  };
  const spec = {
    containers: [container],
    readinessGates: [{ conditionType: 'ot-functions.test/never' }],
    securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
  };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: `stands-in-${name}`, namespace, labels }, spec };
}

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

  describe('has no rule too many', () => {
    /** By policy, direction and first port: what ends without the rule, who asks for it, and where. */
    const needs: [string, string, keyof typeof standIns, () => Promise<string>][] = [
      ['functions ingress 8080', 'the Broker delivers an event', 'filter', at('function', 8080)],
      ['functions ingress 8012', 'the activator wakes a function', 'activator', at('function', 8012)],
      ['functions ingress 9464', 'Prometheus reads the metrics of a function', 'monitoring', at('function', 9464)],
      ['functions egress 53', 'a function finds the Broker by its name', 'function', async () => broker],
      ['functions egress 443', 'a function reads an object', 'function', ofService('default', 'kubernetes', 'https')],
      ['functions egress 8080', 'a function publishes', 'function', ofService('knative-eventing', 'broker-ingress')],
      ['functions egress 4317', 'a function sends its traces', 'function', at('monitoring', 4318)],
      ['sources ingress 9090', 'Prometheus reads the metrics of a source', 'monitoring', at('adapter', 9090)],
      ['sources egress 53', 'a source finds the Broker by its name', 'adapter', async () => broker],
      ['sources egress 443', 'a source watches objects', 'adapter', ofService('default', 'kubernetes', 'https')],
      ['sources egress 8080', 'a source sends an event', 'adapter', ofService('knative-eventing', 'broker-ingress')],
    ];
    const pods = Object.entries(standIns).map(podOf);
    const monitoring = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'monitoring' } };
    beforeAll(async () => {
      await applyText(textOf([monitoring, ...pods]));
      const started = pods.map(({ metadata: { name, namespace } }) =>
        kubectlOrFail('wait', 'pod', name, '--namespace', namespace, '--for=condition=ContainersReady'),
      );
      await Promise.all(started);
    });
    afterAll(async () => {
      for (const { metadata } of pods)
        await kubectlOrFail('delete', 'pod', metadata.name, '--namespace', metadata.namespace, '--grace-period=1');
      await kubectlOrFail('delete', 'namespace', monitoring.metadata.name);
    });

    test('that is not in this table', async () => {
      const rules = await Promise.all(['functions', 'sources'].map(rulesOf));
      expect(rules.flat().map(({ key }) => key)).toEqual(needs.map(([key]) => key));
    });

    test.each(needs)('%s: without it %s no more', async (key, _, who, where) => {
      const url = await where();
      const reaches = async () => !unreachable.test(String((await asPod(who, [url]))[0]));
      await until('the allowed connection', reaches);
      const rule = (await rulesOf(key.split(' ')[0] ?? '')).find((one) => one.key === key);
      await rule?.remove();
      await until('the connection to be refused', async () => !(await reaches()));
      await rule?.restore();
    });

    /** The rules of a policy as it is in the cluster. */
    async function rulesOf(policy: string) {
      const { spec } = JSON.parse(await kubectlOrFail('get', 'networkpolicy', policy, ...operator, '--output=json'));
      const patch = (type: string, change: object) =>
        kubectlOrFail(
          'patch',
          'networkpolicy',
          policy,
          ...operator,
          `--type=${type}`,
          `--patch=${JSON.stringify(change)}`,
        );
      return ['ingress', 'egress'].flatMap((direction) =>
        spec[direction].map(({ ports }: { ports: { port: number }[] }, index: number) => ({
          key: `${policy} ${direction} ${ports[0]?.port}`,
          remove: () => patch('json', [{ op: 'remove', path: `/spec/${direction}/${index}` }]),
          restore: () => patch('merge', { spec: { [direction]: spec[direction] } }),
        })),
      );
    }
    async function asPod(name: string, urls: readonly string[]): Promise<(number | string)[]> {
      const { namespace = '' } = standIns[name] ?? {};
      const pod = [`stands-in-${name}`, '--namespace', namespace];
      return JSON.parse(await kubectlOrFail('exec', ...pod, '--', '/nodejs/bin/node', '-e', asks(urls)));
    }
    function at(name: string, port: number) {
      const { namespace = '' } = standIns[name] ?? {};
      const pod = ['pod', `stands-in-${name}`, '--namespace', namespace];
      return async () => `http://${await kubectlOrFail('get', ...pod, '--output=jsonpath={.status.podIP}')}:${port}`;
    }
    function ofService(namespace: string, name: string, scheme = 'http') {
      const service = ['service', name, '--namespace', namespace];
      return async () => `${scheme}://${await kubectlOrFail('get', ...service, '--output=jsonpath={.spec.clusterIP}')}`;
    }
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
