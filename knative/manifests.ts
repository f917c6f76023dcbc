import type { FunctionDeclaration, SourceName } from '../shared/function.ts';
import { admissionPolicyManifests } from './admission-policies.ts';
import { brokerManifests } from './broker.ts';
import { type Manifest, yamlOf } from './manifest.ts';
import { permissionManifests } from './permissions.ts';
import { deployments, knativeServices } from './services.ts';
import { sourceManifests } from './sources.ts';
import { timerManifests } from './timers.ts';
import { triggerManifests } from './triggers.ts';

/** Sources of kinds that are there wherever this project is. */
const isAlwaysThere = (source: SourceName) => source === 'own' || source === 'pelotech';

/** The sources whose kinds are another operator's, which may be missing. */
export const foreignSources = (functions: readonly FunctionDeclaration[]): SourceName[] =>
  [...sourceManifests(functions).keys()].filter((source) => !isAlwaysThere(source));

/** The text of every generated file of this folder, by its path. */
export function filesOf(all: readonly FunctionDeclaration[]): Map<string, string> {
  const functions = all.filter(({ part }) => part === undefined);
  const sources = [...sourceManifests(functions)];
  const components = sources.filter(([name]) => !isAlwaysThere(name));
  const admissionPolicies = admissionPolicyManifests(functions);
  const base = folder('base', 'Kustomization', [
    ['broker', brokerManifests(functions)],
    ...(admissionPolicies.length > 0 ? [['admission-policies', admissionPolicies] as const] : []),
    ['permissions', permissionManifests(functions)],
    ['timers', timerManifests()],
    ...sources.filter(([name]) => isAlwaysThere(name)).map(([name, of]) => [`source-${name}`, of] as const),
    ['triggers', triggerManifests(functions)],
  ]);
  const overlay = {
    resources: ['../base'],
    components: components.map(([name]) => `../components/${name}`),
  };
  return new Map([
    ...base,
    ...components.flatMap(([name, of]) => folder(`components/${name}`, 'Component', [[`source-${name}`, of]])),
    ...folder('deployments', 'Kustomization', [['deployments', deployments(functions)]], overlay),
    ...folder('serving', 'Kustomization', [['services', knativeServices(functions)]], overlay),
    ...openStackFiles(all),
  ]);
}

/** A component for either overlay, for whoever has an OpenStack. */
function openStackFiles(all: readonly FunctionDeclaration[]): [string, string][] {
  const functions = all.filter(({ part }) => part === 'openstack');
  if (functions.length === 0) return [];
  const base = { components: ['../base'] };
  return [
    ...folder('openstack/base', 'Component', [
      ['permissions', permissionManifests(functions)],
      ...[...sourceManifests(functions)].map(([name, of]) => [`source-${name}`, of] as const),
      ['triggers', triggerManifests(functions, all)],
    ]),
    ...folder('openstack/deployments', 'Component', [['deployments', deployments(functions)]], base),
    ...folder('openstack/serving', 'Component', [['services', knativeServices(functions)]], base),
  ];
}

type Contents = readonly (readonly [name: string, manifests: readonly Manifest[]])[];

/** A folder of files with the kustomization that names them. */
function folder(
  path: string,
  kind: 'Kustomization' | 'Component',
  contents: Contents,
  { resources, components }: { resources?: readonly string[]; components?: readonly string[] } = {},
): [string, string][] {
  const kustomization = {
    apiVersion: kind === 'Component' ? 'kustomize.config.k8s.io/v1alpha1' : 'kustomize.config.k8s.io/v1beta1',
    kind,
    resources: [...(resources ?? []), ...contents.map(([name]) => `${name}.yaml`)],
    ...(components?.length ? { components } : {}),
  };
  return [...contents, ['kustomization', [kustomization]] as const].map(([name, manifests]) => [
    `${path}/${name}.yaml`,
    yamlOf(manifests),
  ]);
}
