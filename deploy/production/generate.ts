import { loadFunctions } from '../../knative/functions.ts';
import type { FunctionDeclaration } from '../../shared/function.ts';
import { chartFiles } from './chart.ts';
import { networkPolicies, usualSurroundings } from './network-policies.ts';
import { podDisruptionBudgets } from './pod-disruption-budgets.ts';
import { ownKinds, roleManifests } from './roles.ts';
import { sizePatches } from './sizes.ts';
import { drift, write, yamlOf } from './written-file.ts';

/** The folder that the generated files are in. */
export const productionFolder = new URL('./', import.meta.url);

/** The text of every generated file of this folder, by its path. */
export const productionFiles = (functions: readonly FunctionDeclaration[]): Map<string, string> =>
  new Map([
    ...part('roles', 'Kustomization', roleManifests(ownKinds())),
    ...part('network-policies', 'Component', networkPolicies(functions, usualSurroundings)),
    ...part('pod-disruption-budgets', 'Component', podDisruptionBudgets(functions)),
    ['resources/kustomization.yaml', yamlOf([{ ...component, patches: sizePatches(functions) }])],
    ...[...chartFiles(functions)].map(([name, text]) => [`chart/${name}`, text] as const),
  ]);

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

if (import.meta.main) {
  const isCheck = process.argv.includes('--check');
  const wanted = productionFiles(await loadFunctions());
  const changed = await (isCheck ? drift : write)(wanted, productionFolder);
  if (isCheck && changed.length > 0) {
    console.error(
      `deploy/production differs from what it is generated from: ${changed.join(', ')}. Run "npm run generate".`,
    );
    process.exitCode = 1;
  } else if (!isCheck) {
    console.log(
      changed.length > 0 ? `wrote deploy/production: ${changed.join(', ')}` : 'deploy/production: nothing to change',
    );
  }
}
