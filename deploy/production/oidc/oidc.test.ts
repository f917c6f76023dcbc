import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { loadAllFunctions } from '../../../knative/functions.ts';
import { facts, imagePublished } from '../../../shared/events.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import { readManifests } from '../../manifests.ts';
import { eventPolicies, senders } from './event-policies.ts';

interface EventPolicy extends KubernetesObject {
  spec: { to: { ref: { name: string } }[]; from: { sub: string }[]; filters: unknown[] };
}

const policies = async () =>
  (
    await readManifests(
      'deploy/production/oidc',
      'deploy/production/oidc/gateway',
      'deploy/production/oidc/in-cluster-pipelines',
    )
  ).filter((object): object is EventPolicy => object.kind === 'EventPolicy');

test('a new source is in the policies by the name that Knative will give it', async () => {
  const added = { apiVersion: 'x', kind: 'ApiServerSource', metadata: { name: 'new', namespace: 'sync-operator' } };
  const found = eventPolicies([...senders(await loadAllFunctions()), added as KubernetesObject]);
  expect(JSON.stringify(found)).toContain(
    'system:serviceaccount:sync-operator:new-oidc-sources.knative.dev-apiserversource',
  );
});

test('every policy has filters, names senders without "*", and no sender is in two: Knative would apply only the first', async () => {
  const all = await policies();
  expect(all.map(({ metadata }) => metadata.name).sort()).toEqual([
    'functions',
    'gateway',
    'in-cluster-pipelines',
    'sources',
    'timers',
  ]);
  for (const { spec } of all) expect(spec.filters.length).toBeGreaterThan(0);
  const subjects = all.flatMap(({ spec }) => spec.from.map(({ sub }) => sub));
  expect(subjects.filter((sub) => sub.includes('*'))).toEqual([]);
  expect(new Set(subjects).size).toBe(subjects.length);
});

test('sources and timers may post to the internal Brokers, all others to the public one', async () => {
  const brokers = (await policies()).map(({ metadata, spec }) => [metadata.name, spec.to.map(({ ref }) => ref.name)]);
  const internal = ['images', 'inspection', 'machines', 'pruning', 'workspaces'];
  expect(Object.fromEntries(brokers)).toEqual({
    ...{ sources: internal, timers: internal },
    ...{ functions: ['default'], gateway: ['default'], 'in-cluster-pipelines': ['default'] },
  });
});

test('only the gateway and the pipelines in the cluster may post what pipelines publish', async () => {
  const may = (await policies()).filter(({ spec }) => JSON.stringify(spec.filters).includes('ot.pelotech.image.'));
  expect(may.flatMap(({ spec }) => spec.from.map(({ sub }) => sub))).toEqual([
    'system:serviceaccount:sync-operator:gateway',
    'system:serviceaccount:ci:image-pipeline',
  ]);
});

test('functions may post the facts that they publish and nothing else, and no other sender may post those', async () => {
  const all = await policies();
  const allowing = (type: string) =>
    all
      .filter(({ spec }) => prefixesIn(spec.filters).some((prefix) => type.startsWith(prefix)))
      .map(({ metadata }) => metadata.name);
  for (const type of Object.keys(facts)) expect(allowing(type), type).toEqual(['functions']);
  expect(allowing(imagePublished)).not.toContain('functions');
  const [functions] = all.filter(({ metadata }) => metadata.name === 'functions');
  const names = functions?.spec.from.map(({ sub }) => sub.split(':').at(-1));
  expect(names).toEqual(expect.arrayContaining(['start-sync', 'follow-sync', 'prune', 'provision-vm']));
});

/** Every prefix or type that the filters accept. */
const prefixesIn = (filters: readonly unknown[]): string[] =>
  [...JSON.stringify(filters).matchAll(/"type":"([^"]+)"/g)].map(([, type]) => type ?? '');

test.each(['broker-token.yaml', 'gateway/gateway.yaml', '../../pipelines/in-cluster-job.yaml'])(
  'the token of %s is for our Broker',
  async (path) => {
    const text = await readFile(new URL(path, import.meta.url), 'utf8');
    expect(text).toMatch(/audience: eventing\.knative\.dev\/broker\/sync-operator\/default\n/);
  },
);

test('the feature is enabled by a patch of its key: a ConfigMap of ours would erase the other features', async () => {
  const text = await readFile(new URL('README.md', import.meta.url), 'utf8');
  const patches = [...text.matchAll(/^kubectl patch configmap config-features .*-p '(.*)'$/gm)];
  expect(patches.map(([, patch = '']) => JSON.parse(patch))).toEqual(
    ['enabled', 'disabled'].map((value) => ({ data: { 'authentication-oidc': value } })),
  );
  const objects = await readManifests('deploy/production/oidc', 'deploy/production/oidc/gateway');
  const configMaps = objects.filter(({ kind }) => kind === 'ConfigMap');
  expect(configMaps.map(({ metadata }) => metadata.name)).toEqual(['gateway']);
});
