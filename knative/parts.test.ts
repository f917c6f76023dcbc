import { describe, expect, test } from 'vitest';
import { documents } from '../deploy/manifests.ts';
import { on, type Part, type Permission } from '../shared/function.ts';
import { defineResource } from '../shared/kinds/resource.ts';
import { partLabel } from '../shared/operator.ts';
import { aFunction } from '../test/support/builders/functions.ts';
import { loadAllFunctions } from './functions.ts';
import { groupOf, type Manifest } from './manifest.ts';
import { filesOf } from './manifests.ts';

const Widget = defineResource({ apiVersion: 'demo.example.com/v1', kind: 'Widget', plural: 'widgets' }, {});
const Foreign = defineResource({ apiVersion: 'foreign.example.com/v1', kind: 'Thing', plural: 'things' }, {});

const Disk = defineResource({ apiVersion: 'disk.example.com/v1', kind: 'Disk', plural: 'disks' }, {});

const shared = [on.changed(Widget, { source: 'pelotech' }), on.changed(Foreign, { source: 'kube-ovn' })];
const may: readonly Permission[] = [
  { resource: Widget, verbs: ['get'], admissionPolicy: 'workspace' },
  { resource: Widget, verbs: ['list'], namespace: 'own' },
];
const frame = aFunction('frame', [...shared, on.changed(Disk, { source: 'cdi' })], { part: 'kubevirt', may });
const paint = aFunction('paint', shared, { may });
const rent = aFunction('rent', [on.audit()], { system: 'openstack', part: 'openstack', may });

const objectsIn = (text: string) => documents(text) as Manifest[];
const manifests = [...filesOf([frame, paint, rent])]
  .filter(([path]) => !path.endsWith('/kustomization.yaml'))
  .flatMap(([, text]) => objectsIn(text));

const idsOf = (objects: readonly Manifest[]) =>
  objects.map(({ apiVersion, kind, metadata }) => `${groupOf(apiVersion)} ${kind} ${metadata?.name}`).sort();
const isAbout = (names: string) => (object: Manifest) => new RegExp(`\\b(${names})$`).test(object.metadata?.name ?? '');

describe('what belongs to a part has its label, and nothing else has:', () => {
  test.each<[Part, string, number]>([
    // A source is left out with the functions that alone listen to it; its account serves others.
    ['kubevirt', 'frame|frame-images|images-cdi', 12],
    ['openstack', 'rent|rent-openstack|openstack|openstack-audit|openstack-functions', 12],
    ['kube-ovn', 'kube-ovn', 4],
  ])('%s', (part, name, count) => {
    const labelled = manifests.filter(({ metadata }) => metadata?.labels?.[partLabel] === part);
    expect(idsOf(labelled)).toEqual(idsOf(manifests.filter(isAbout(name))));
    expect(labelled).toHaveLength(count);
  });
});

/** The API groups that a cluster has only with a part. */
const parts: Readonly<Record<string, Part>> = {
  'kubevirt.io': 'kubevirt',
  'kubeovn.io': 'kube-ovn',
  'kupenstack.io': 'openstack',
};

test('a function whose permissions name kinds of a part declares it; compose-workspace alone does without kube-ovn', async () => {
  const undeclared = (await loadAllFunctions()).flatMap(({ name, part, may }) =>
    [...new Set(may.map(({ resource }) => parts[groupOf(resource.apiVersion)]))]
      .filter((needed) => needed !== undefined && needed !== part)
      .map((needed) => `${name} needs ${needed}`),
  );
  expect(undeclared).toEqual(['compose-workspace needs kube-ovn']);
});
