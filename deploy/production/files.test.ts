import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { ownKinds } from '../../crds/definitions.ts';
import { loadAllFunctions } from '../../knative/functions.ts';
import { networkPolicies, servingPolicies, usualSurroundings } from '../../knative/network-policies.ts';
import { partLabel } from '../../shared/operator.ts';
import { hasKubectl } from '../../test/stories/local-world.ts';
import { aFunction } from '../../test/support/builders/functions.ts';
import { documents } from '../manifests.ts';
import { chartFiles } from './chart.ts';
import { podDisruptionBudgets } from './pod-disruption-budgets.ts';
import { roleManifests } from './roles.ts';

const functions = (['single', 'always', 'zero'] as const).map((scale) => aFunction(scale, [], { scale }));

test("the chart's policy outlives its release: an uninstall keeps the settings", () => {
  expect(chartFiles(functions).get('templates/policy.yaml')).toMatch(
    /\n {2}annotations:\n {4}helm\.sh\/resource-policy: keep\ndata:/,
  );
});

const isKubectlThere = await hasKubectl();
if (!isKubectlThere) console.log('skipped: components are rendered only where there is kubectl');

describe.skipIf(!isKubectlThere)('a component', () => {
  const root = fileURLToPath(new URL('../../', import.meta.url));

  async function rendered(resources: string[], components: string[]) {
    const folder = await mkdtemp(join(tmpdir(), 'without-'));
    const pathTo = (path: string) => relative(folder, join(root, path));
    const kustomization = { resources: resources.map(pathTo), components: components.map(pathTo) };
    await writeFile(join(folder, 'kustomization.yaml'), stringify(kustomization));
    const { stdout } = await promisify(execFile)('kubectl', ['kustomize', folder], { maxBuffer: 16 * 1024 * 1024 });
    await rm(folder, { recursive: true });
    return documents(stdout);
  }

  const wholes = new Map<string, ReturnType<typeof rendered>>();
  test.each([
    ['kubevirt', 'serving', 15],
    ['kubevirt', 'deployments', 16],
    ['kube-ovn', 'serving', 4],
    ['kube-ovn', 'deployments', 4],
  ])(
    'without-%s removes from %s the %i objects that belong to that part, and nothing else',
    async (part, overlay, count) => {
      const whole = await wholes.getOrInsertComputed(overlay, () => rendered([`deploy/production/${overlay}`], []));
      const others = whole.filter(({ metadata }) => metadata.labels?.[partLabel] !== part);
      expect(whole.length - others.length).toBe(count);
      expect(await rendered([`deploy/production/${overlay}`], [`deploy/production/without-${part}`])).toEqual(others);
    },
  );
});

describe('the roles', () => {
  test('name every kind that crds/ defines', async () => {
    const folder = new URL('../../crds/', import.meta.url);
    const names = (await readdir(folder)).filter((name) => name.endsWith('.yaml') && name !== 'kustomization.yaml');
    const texts = await Promise.all(names.map((name) => readFile(new URL(name, folder), 'utf8')));
    const defined = texts.map((text) => (parse(text) as { metadata: { name: string } }).metadata.name);
    expect(ownKinds.map(({ group, plural }) => `${plural}.${group}`).sort()).toEqual(defined.sort());
    for (const role of roleManifests()) {
      expect(namedIn(role.rules)).toEqual(expect.arrayContaining(defined));
    }
  });

  test('name every kind of ours that a function declares', async () => {
    const groups = new Set(ownKinds.map(({ group }) => group));
    const declared = (await loadAllFunctions())
      .flatMap(({ may }) => may.map(({ resource }) => resource))
      .map(({ apiVersion, plural }) => ({ group: apiVersion.split('/')[0] ?? '', plural }))
      .filter(({ group }) => groups.has(group) || /(^|\.)(pelotech\.ot|kupenstack\.io)$/.test(group));
    expect(declared.length).toBeGreaterThan(0);
    expect(ownKinds).toEqual(expect.arrayContaining(declared));
  });

  test('are added to those of Kubernetes by their labels', () => {
    const labels = roleManifests().map(({ metadata }) => Object.keys(metadata.labels).at(-1));
    expect(labels).toEqual(['view', 'edit', 'admin'].map((role) => `rbac.authorization.k8s.io/aggregate-to-${role}`));
  });

  test('let users only read status', () => {
    const onStatus = roleManifests()
      .flatMap(({ rules }) => rules)
      .filter(({ resources }) => resources.some((name) => name.endsWith('/status')));
    expect([...new Set(onStatus.flatMap(({ verbs }) => verbs))]).toEqual(['get']);
  });
});

const namedIn = (rules: readonly { apiGroups: readonly string[]; resources: readonly string[] }[]) =>
  rules.flatMap(({ apiGroups, resources }) => resources.map((plural) => `${plural}.${apiGroups[0]}`));

describe('the disruption budgets', () => {
  const budgets = podDisruptionBudgets(functions);

  test('are for the functions that always run', () => {
    expect(budgets.map(({ metadata }) => metadata.name)).toEqual(['single', 'always']);
  });

  test('let a drain proceed although there is only one pod', () => {
    for (const { spec } of budgets) {
      expect(spec).toMatchObject({ maxUnavailable: 1 });
      expect(spec).not.toHaveProperty('minAvailable');
    }
  });
});

describe('the network policies', () => {
  const [ofFunctions, ofSources, deny] = networkPolicies(functions, usualSurroundings).map(({ spec }) => spec as Spec);

  interface Spec {
    podSelector: { matchExpressions?: { values: string[] }[] };
    ingress?: { from?: object[]; ports: { port: number }[] }[];
    egress?: { to?: object[]; ports: { port: number }[] }[];
  }

  test('deny everything that no other policy allows', () => {
    expect(deny).toEqual({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
  });

  test('name every function', () => {
    expect(ofFunctions?.podSelector.matchExpressions?.[0]?.values).toEqual(['always', 'single', 'zero']);
  });

  test('allow no traffic from unnamed sources', () => {
    for (const rule of [...(ofFunctions?.ingress ?? []), ...(ofSources?.ingress ?? [])]) {
      expect(rule.from?.length).toBeGreaterThan(0);
      for (const peer of rule.from ?? []) expect(peer).toHaveProperty('namespaceSelector.matchLabels');
      expect(rule.ports.length).toBeGreaterThan(0);
    }
  });

  test('of Serving leave open to everyone what it serves to the outside, and metrics', () => {
    const open = servingPolicies(usualSurroundings).map(({ spec }) =>
      (spec as Spec).ingress?.filter(({ from }) => !from).map(({ ports }) => ports.map(({ port }) => port)),
    );
    expect(open).toEqual([[[8080, 8443, 9000]], [[8008, 9090]]]);
  });

  test('let a function that reads sources ask everywhere but at addresses that only a node should ask', () => {
    const [warm, ...others] = functions;
    if (!warm) throw new Error('expected a function');
    const policies = networkPolicies([{ ...warm, readsSources: true }, ...others], usualSurroundings);
    const { spec } = policies.find(({ metadata }) => metadata.name === 'source-readers') ?? {};
    const { podSelector, egress } = spec as Spec;
    expect(podSelector.matchExpressions?.[0]?.values).toEqual([warm.name]);
    expect(egress).toEqual([
      {
        to: [
          { ipBlock: { cidr: '0.0.0.0/0', except: ['169.254.0.0/16', '127.0.0.0/8'] } },
          { ipBlock: { cidr: '::/0', except: ['fd00:ec2::254/128', 'fe80::/10'] } },
        ],
      },
    ]);
    expect(networkPolicies(functions, usualSurroundings).map(({ metadata }) => metadata.name)).not.toContain(
      'source-readers',
    );
  });

  test('never allow the metadata service of a cloud, which listens at port 80', () => {
    const anywhere = [...(ofFunctions?.egress ?? []), ...(ofSources?.egress ?? [])].filter(({ to }) => !to);
    expect(anywhere.map(({ ports }) => ports)).toEqual(Array(2).fill([{ port: 443 }, { port: 6443 }]));
  });
});
