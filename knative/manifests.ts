import type { FunctionDeclaration } from '../shared/function.ts';
import { brokerManifests } from './broker.ts';
import { type Manifest, yamlOf } from './manifest.ts';
import { permissionManifests } from './permissions.ts';
import { pingManifests } from './pings.ts';
import { sourceManifests } from './sources.ts';
import { triggerManifests } from './triggers.ts';

/** The text of every generated file of this folder, by file name. */
export function filesOf(functions: readonly FunctionDeclaration[]): Map<string, string> {
  const sources = [...sourceManifests(functions)].map(
    ([name, manifests]) => [`source-${name}.yaml`, manifests] as const,
  );
  const files = new Map<string, readonly Manifest[]>([
    ['broker.yaml', brokerManifests(functions)],
    ['permissions.yaml', permissionManifests(functions)],
    ['pings.yaml', pingManifests()],
    ...sources,
    ['triggers.yaml', triggerManifests(functions)],
  ]);
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [...files.keys()],
  };
  files.set('kustomization.yaml', [kustomization]);
  return new Map([...files].map(([name, manifests]) => [name, yamlOf(manifests)]));
}
