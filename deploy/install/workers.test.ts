import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { Manifest } from '../../knative/manifest.ts';
import { filesOf } from '../../knative/manifests.ts';
import { type FunctionDeclaration, on, type Permission, type Subscription } from '../../shared/function.ts';
import { defineResource } from '../../shared/kinds/resource.ts';
import { type Touch, workersOn } from './workers.ts';

const Widget = defineResource({ apiVersion: 'demo.example.com/v1', kind: 'Widget', plural: 'widgets' }, {});
const Lease = defineResource({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', plural: 'leases' }, {});
const Foreign = defineResource({ apiVersion: 'foreign.example.com/v1', kind: 'Thing', plural: 'things' }, {});

const aFunction = (name: string, subscriptions: Subscription[], may: Permission[]): FunctionDeclaration => ({
  name,
  on: subscriptions,
  may,
  scale: 'zero',
  observe: async () => [],
  decide: () => [],
});

const lease: Permission = { resource: Lease, verbs: ['get'], namespace: 'own' };
const files = filesOf([
  aFunction('paint', [on.changed(Widget, { source: 'pelotech' })], [{ resource: Widget, verbs: ['get'] }, lease]),
  aFunction(
    'frame',
    [on.changed(Widget, { source: 'pelotech' }), on.changed(Foreign, { source: 'kubevirt' })],
    [{ resource: Foreign, verbs: ['get'] }, { resource: Widget, verbs: ['get'] }, lease],
  ),
]);

const manifestsOf = (overlay: string) =>
  [...files]
    .filter(([path]) => !path.endsWith('kustomization.yaml') && !path.startsWith(overlay))
    .flatMap(([, text]) => parseAllDocuments(text).map((document) => document.toJS() as Manifest));

const found = (group: string, manifests: readonly Manifest[], touch?: Touch) =>
  [...workersOn(group, manifests, touch)].map(({ kind, metadata }) => `${kind} ${metadata?.name}`).sort();

const account = (role: string, name: string) => [
  `ServiceAccount ${name}`,
  `${role} sync-operator-${name}`,
  `${role}Binding sync-operator-${name}`,
];

describe('who works with the kinds of a group', () => {
  test.each([
    ['deployments', ['Deployment frame', 'Service frame']],
    ['serving', ['Service frame']],
  ])('is found with all that is there for them alone (%s)', (overlay, running) => {
    const other = overlay === 'serving' ? 'deployments' : 'serving';
    expect(found('foreign.example.com', manifestsOf(other))).toEqual(
      [
        ...account('ClusterRole', 'frame'),
        'Role frame',
        'RoleBinding frame',
        ...running,
        'Trigger frame',
        ...account('ClusterRole', 'source-kubevirt'),
        'ApiServerSource kubevirt',
      ].sort(),
    );
  });

  test('is only the source where who has other work, too, does not count', () => {
    expect(found('foreign.example.com', manifestsOf('serving'), 'alone')).toEqual(
      [...account('ClusterRole', 'source-kubevirt'), 'ApiServerSource kubevirt'].sort(),
    );
  });

  test('is nobody where nobody does', () => {
    expect(found('other.example.com', manifestsOf('serving'))).toEqual([]);
  });

  test('is each that does, with what they share with nobody else', () => {
    expect(found('demo.example.com', manifestsOf('serving'))).toEqual(
      expect.arrayContaining(['Deployment paint', 'Deployment frame', 'ApiServerSource pelotech']),
    );
  });
});
