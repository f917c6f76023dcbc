import type { FunctionDeclaration, SourceName } from '../shared/function.ts';
import { publicBroker } from '../shared/operator.ts';
import { admissionPolicyManifests } from './admission-policies.ts';
import { brokerManifests, systemsOf } from './broker.ts';
import { isByDefault } from './functions.ts';
import { labelled, type Manifest, yamlOf } from './manifest.ts';
import { networkPolicies, openStackNetworkPolicies } from './network-policies.ts';
import { permissionManifests } from './permissions.ts';
import { deployments, knativeServices } from './services.ts';
import { sourceManifests } from './sources.ts';
import { timerManifests } from './timers.ts';
import { triggerManifests } from './triggers.ts';

/** Sources of kinds that exist wherever this project is installed. */
const isAlwaysThere = (source: SourceName) => source === 'own' || source === 'pelotech';

/** The sources whose kinds are another operator's, which may be missing. */
export const foreignSources = (functions: readonly FunctionDeclaration[]): SourceName[] =>
  [...sourceManifests(functions).keys()].filter((source) => !isAlwaysThere(source));

/** The text of every generated file of this folder, by its path. */
export function filesOf(all: readonly FunctionDeclaration[]): Map<string, string> {
  const functions = all.filter(isByDefault);
  const sources = [...sourceManifests(functions)];
  const components = sources.filter(([name]) => !isAlwaysThere(name));
  const admissionPolicies = ofEach(functions, admissionPolicyManifests);
  const base = folder('base', 'Kustomization', [
    ['brokers', brokerManifests([publicBroker, ...systemsOf(functions)], all)],
    ...(admissionPolicies.length > 0 ? [['admission-policies', admissionPolicies] as const] : []),
    ['network-policies', networkPolicies(functions)],
    ['permissions', ofEach(functions, permissionManifests)],
    ['timers', timerManifests(functions)],
    ...sources.filter(([name]) => isAlwaysThere(name)).map(([name, of]) => [`source-${name}`, of] as const),
    ['triggers', ofEach(functions, (one) => triggerManifests(one, all))],
  ]);
  const overlay = {
    resources: ['../base'],
    components: components.map(([name]) => `../components/${name}`),
  };
  return new Map([
    ...base,
    ...components.flatMap(([name, of]) => folder(`components/${name}`, 'Component', [[`source-${name}`, of]])),
    ...folder('deployments', 'Kustomization', [['deployments', ofEach(functions, deployments)]], overlay),
    ...folder('serving', 'Kustomization', [['services', ofEach(functions, knativeServices)]], overlay),
    ...openStackFiles(all),
  ]);
}

/** A component for either overlay, for clusters with an OpenStack. */
function openStackFiles(all: readonly FunctionDeclaration[]): [string, string][] {
  const functions = all.filter((declaration) => !isByDefault(declaration));
  if (functions.length === 0) return [];
  const base = { components: ['../base'] };
  const ofPart = (manifests: Manifest[]) => labelled('openstack', manifests);
  return [
    ...folder('openstack/base', 'Component', [
      ['brokers', ofPart(brokerManifests(systemsOf(functions), all))],
      ['network-policies', ofPart(openStackNetworkPolicies(functions))],
      ['permissions', ofEach(functions, permissionManifests)],
      ['timers', ofPart(timerManifests(functions))],
      ...[...sourceManifests(functions)].map(([name, of]) => [`source-${name}`, of] as const),
      ['triggers', ofEach(functions, (one) => triggerManifests(one, all))],
    ]),
    ...folder('openstack/deployments', 'Component', [['deployments', ofEach(functions, deployments)]], base),
    ...folder('openstack/serving', 'Component', [['services', ofEach(functions, knativeServices)]], base),
  ];
}

/** The manifests of each function, with the label of its part. */
const ofEach = (
  functions: readonly FunctionDeclaration[],
  make: (functions: readonly FunctionDeclaration[]) => Manifest[],
): Manifest[] => functions.flatMap((declaration) => labelled(declaration.part, make([declaration])));

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
