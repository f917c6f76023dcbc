import { afterAll, beforeAll, expect, test } from 'vitest';
import { applyText, textOf } from './installation.ts';
import { clusterIpOf, kubectl, kubectlOrFail } from './kubectl.ts';
import { until } from './oidc-cluster.ts';

/** A Pod that stands for one of its labels and asks as the Pod that it stands for. */
export interface StandIn {
  namespace: string;
  labels: Record<string, string>;
  /** Where it answers 200. */
  listensAt?: number[];
  /** Where it passes requests on to, on its node: other port by own port. */
  passesOn?: Record<number, number>;
}

export const component = (name: string) => ({ 'app.kubernetes.io/component': name });

/** What a network that enforces policies says of a connection that none allows; others drop it until it times out. */
export const unreachable = /^(ECONNREFUSED|ECONNRESET|TimeoutError|EAI_AGAIN)$/;

type Request = Readonly<{ method?: string; headers?: Record<string, string>; body?: string }>;

/** A script that prints for each URL the HTTP status of its answer, or why it has none. */
const asks = (urls: readonly string[], { body = '', ...request }: Request) => `
  const ask = (url) => new Promise((resolve) => {
    const options = { ...${JSON.stringify(request)}, signal: AbortSignal.timeout(3000) };
    require(url.split(':')[0])
      .request(url, options, (answer) => resolve(answer.resume().statusCode))
      .on('error', ({ cause, code, name }) => resolve(cause?.name ?? code ?? name))
      .end(${JSON.stringify(body)});
  });
  Promise.all(${JSON.stringify(urls)}.map(ask)).then((found) => console.log(JSON.stringify(found)));`;

/** What the process of a Pod (`deploy/name` is one of a Deployment's) is answered. */
export const answersTo = async (namespace: string, pod: string, urls: readonly string[], request: Request = {}) => {
  const command = ['/nodejs/bin/node', '-e', asks(urls, request)];
  const printed = await kubectlOrFail('exec', pod, '--namespace', namespace, '--', ...command);
  return JSON.parse(printed) as (number | string)[];
};

/** One of them as a Pod. It is never ready, so that no Service leads to it. */
function podOf([name, { namespace, labels, listensAt = [], passesOn = {} }]: [string, StandIn]) {
  const script = `const http = require('http');
    for (const port of ${JSON.stringify(listensAt)}) http.createServer((_, answer) => answer.end()).listen(port);
    for (const [own, port] of Object.entries(${JSON.stringify(passesOn)}))
      http.createServer((asked, answer) => {
        const { method, url: path, headers } = asked;
        const passed = http.request({ host: process.env.NODE_ADDRESS, port, method, path, headers }, (found) => {
          answer.writeHead(found.statusCode, found.headers);
          found.pipe(answer);
        });
        asked.pipe(passed.on('error', () => answer.destroy()));
      }).listen(own);
    process.on('SIGTERM', () => process.exit()); setInterval(() => {}, 60_000);`;
  const container = {
    name: 'stands-in',
    image: process.env.OT_WORKLOAD_IMAGE,
    imagePullPolicy: 'Never',
    command: ['/nodejs/bin/node', '-e', script],
    env: [{ name: 'NODE_ADDRESS', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } }],
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  };
  const spec = {
    containers: [container],
    readinessGates: [{ conditionType: 'ot-functions.test/never' }],
    securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
  };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: `stands-in-${name}`, namespace, labels }, spec };
}

/** Starts these Pods, and the namespaces (by their labels) that they need, before the tests of a suite, and takes them away after. */
export function standIns<Name extends string>(
  all: Readonly<Record<Name, StandIn>>,
  namespaces: Readonly<Record<string, Record<string, string>>>,
) {
  const pods = Object.entries<StandIn>(all).map(podOf);
  const around = Object.entries(namespaces).map(([name, labels]) => ({
    ...{ apiVersion: 'v1', kind: 'Namespace' },
    metadata: { name, labels },
  }));
  beforeAll(async () => {
    await applyText(textOf([...around, ...pods]));
    const started = pods.map(({ metadata: { name, namespace } }) =>
      kubectlOrFail('wait', 'pod', name, '--namespace', namespace, '--for=condition=ContainersReady'),
    );
    await Promise.all(started);
  });
  afterAll(async () => {
    for (const { metadata } of pods)
      await kubectl('delete', 'pod', metadata.name, '--namespace', metadata.namespace, '--grace-period=1');
    if (around.length > 0) await kubectlOrFail('delete', 'namespace', ...Object.keys(namespaces));
  });
  const addressOf = (name: Name) => {
    const pod = ['pod', `stands-in-${name}`, '--namespace', all[name].namespace];
    return kubectlOrFail('get', ...pod, '--output=jsonpath={.status.podIP}');
  };
  return {
    addressOf,
    at: (name: Name, port: number) => async () => `http://${await addressOf(name)}:${port}`,
    asPod: (name: Name, urls: readonly string[], request?: Request) =>
      answersTo(all[name].namespace, `stands-in-${name}`, urls, request),
  };
}

export const ofService =
  (namespace: string, name: string, scheme = 'http') =>
  async () =>
    `${scheme}://${await clusterIpOf(namespace, name)}`;

/** By policy, direction, and first port or peer: what ends without the rule, who asks for it, and where. */
export type Need<Name extends string> = [rule: string, story: string, who: Name, where: () => Promise<string>];

/** Tests that these policies (namespace by name) have the rules that these stories need, and no other. */
export function haveNoRuleTooMany<Name extends string>(
  policies: Readonly<Record<string, string>>,
  needs: Need<Name>[],
  { asPod }: Pick<ReturnType<typeof standIns<Name>>, 'asPod'>,
): void {
  test('has no rule that is not in this table', async () => {
    const rules = await Promise.all(Object.keys(policies).map(rulesOf));
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

  async function rulesOf(policy: string) {
    const place = ['networkpolicy', policy, '--namespace', policies[policy] ?? ''];
    const { spec } = JSON.parse(await kubectlOrFail('get', ...place, '--output=json'));
    const patch = (type: string, change: object) =>
      kubectlOrFail('patch', ...place, `--type=${type}`, `--patch=${JSON.stringify(change)}`);
    return ['ingress', 'egress'].flatMap((direction) =>
      (spec[direction] ?? []).map((rule: Rule, index: number) => ({
        key: `${policy} ${direction} ${subjectOf(rule)}`,
        remove: () => patch('json', [{ op: 'remove', path: `/spec/${direction}/${index}` }]),
        restore: () => patch('merge', { spec: { [direction]: spec[direction] } }),
      })),
    );
  }
}

interface Rule {
  ports?: { port: number }[];
  from?: { namespaceSelector?: { matchLabels: Record<string, string> } }[];
}

const subjectOf = ({ ports, from }: Rule) =>
  ports?.[0]?.port ?? Object.values(from?.[0]?.namespaceSelector?.matchLabels ?? {})[0] ?? 'anywhere';
