import { parseAllDocuments } from 'yaml';
import * as z from 'zod';
import type { Manifest } from '../../knative/manifest.ts';
import { filesOf } from '../../knative/manifests.ts';
import { facts } from '../../shared/events.ts';
import type { FunctionDeclaration } from '../../shared/function.ts';
import { kubeOvn, kubeVirt, type Platform, partsFor } from '../install/left-out.ts';
import { chartFiles } from './chart.ts';
import { networkPolicies, openStackNetworkPolicies, usualSurroundings } from './network-policies.ts';
import { podDisruptionBudgets } from './pod-disruption-budgets.ts';
import { ownKinds, roleManifests } from './roles.ts';
import { sizePatches } from './sizes.ts';
import { yamlOf } from './yaml-text.ts';

/** The text of every generated file of this folder, by its path. */
export function productionFiles(all: readonly FunctionDeclaration[]): Map<string, string> {
  const functions = all.filter(({ part: of }) => of === undefined);
  const forOpenStack = all.filter(({ part: of }) => of === 'openstack');
  return new Map([
    ...part('roles', 'Kustomization', roleManifests(ownKinds())),
    ...part('network-policies', 'Component', networkPolicies(functions, usualSurroundings)),
    ...part('network-policies-openstack', 'Component', openStackNetworkPolicies(forOpenStack, usualSurroundings)),
    ...part('pod-disruption-budgets', 'Component', podDisruptionBudgets(functions)),
    ['resources/kustomization.yaml', yamlOf([{ ...component, patches: sizePatches(functions) }])],
    ...Object.entries(without).map(
      ([folder, platform]) =>
        [
          `${folder}/kustomization.yaml`,
          yamlOf([{ ...component, patches: patchesWithout(platform, functions) }]),
        ] as const,
    ),
    ...Object.entries(facts).map(([type, schema]) => [`events/${type}.json`, jsonSchemaOf(type, schema)] as const),
    ...[...chartFiles(functions)].map(([name, text]) => [`chart/${name}`, text] as const),
  ]);
}

const component = { apiVersion: 'kustomize.config.k8s.io/v1alpha1', kind: 'Component' };
const kustomization = { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization' };

/** A folder of one file and the kustomization that names it. */
const part = (name: string, kind: 'Kustomization' | 'Component', objects: readonly object[]): [string, string][] => [
  [`${name}/${name}.yaml`, yamlOf(objects)],
  [
    `${name}/kustomization.yaml`,
    yamlOf([{ ...(kind === 'Component' ? component : kustomization), resources: [`${name}.yaml`] }]),
  ],
];

/** The data of a domain event, for teams that wire their own Triggers to it. */
const jsonSchemaOf = (type: string, schema: z.ZodType) =>
  `${JSON.stringify({ title: type, ...z.toJSONSchema(schema, { io: 'input' }) }, undefined, 2)}\n`;

/** The components for a cluster that has one of these not. */
const without = { 'images-only': kubeVirt, 'without-kube-ovn': kubeOvn };

/** The patches that take out what a cluster without it cannot run, whichever overlay it is in. */
function patchesWithout(platform: Platform, functions: readonly FunctionDeclaration[]) {
  const manifests = [...filesOf(functions)]
    .filter(([path]) => !path.endsWith('/kustomization.yaml'))
    .flatMap(([, text]) => parseAllDocuments(text).map((document) => document.toJS() as Manifest));
  return [...partsFor(platform, manifests)].map(({ apiVersion, kind, metadata }) => {
    const { name = '' } = metadata ?? {};
    const [version = '', group] = apiVersion.split('/').reverse();
    return {
      target: { ...(group ? { group } : {}), version, kind, name },
      patch: JSON.stringify({ $patch: 'delete', apiVersion, kind, metadata: { name } }),
    };
  });
}
