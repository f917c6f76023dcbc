import { isByDefault } from '../../knative/functions.ts';
import { servingPolicies, usualSurroundings } from '../../knative/network-policies.ts';
import { schemas } from '../../shared/events.ts';
import type { FunctionDeclaration } from '../../shared/function.ts';
import { yamlOf } from '../yaml-text.ts';
import { asyncApi } from './async-api.ts';
import { chartFiles } from './chart.ts';
import { eventSchema } from './event-schema.ts';
import { eventTypes } from './event-types.ts';
import { podDisruptionBudgets } from './pod-disruption-budgets.ts';
import { roleManifests } from './roles.ts';
import { sizePatches } from './sizes.ts';

/** The text of every generated file of this folder, by its path. */
export function productionFiles(all: readonly FunctionDeclaration[]): Map<string, string> {
  const functions = all.filter(isByDefault);
  return new Map([
    ...part('roles', 'Kustomization', roleManifests()),
    ...part('pod-disruption-budgets', 'Component', podDisruptionBudgets(functions)),
    ...part('internal-gateway', 'Component', servingPolicies(usualSurroundings)),
    ['resources/kustomization.yaml', yamlOf([{ ...component, patches: sizePatches(functions) }])],
    ...part('event-types', 'Component', eventTypes()),
    ...Object.entries(schemas).map(
      ([type, schema]) => [`events/${type}.json`, jsonOf(eventSchema(type, schema))] as const,
    ),
    ['events/asyncapi.json', jsonOf(asyncApi())],
    ...[...chartFiles(all)].map(([name, text]) => [`chart/${name}`, text] as const),
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

const jsonOf = (value: object) => `${JSON.stringify(value, undefined, 2)}\n`;
