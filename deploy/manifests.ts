import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { guessedPlural } from '../knative/plural.ts';
import { type KubernetesObject, ObjectMeta, type Resource } from '../shared/kinds/resource.ts';
import { ApiError } from '../shared/runtime/errors.ts';
import type { Kube } from '../shared/runtime/kube.ts';
import { projectFolder } from './project-folder.ts';

/** What runs beside the functions of a cluster: Broker, Triggers, sources, timers and permissions, as generated. */
export const generatedFolders = ['knative/base', 'knative/components/*'] as const;

/** The same of the functions that work with OpenStack. */
export const openStackFolders = ['knative/openstack/base'] as const;

/** All objects of the YAML files of these folders (relative to the project; `x/*` is every folder in x), kustomizations apart. */
export async function readManifests(...folders: readonly string[]): Promise<KubernetesObject[]> {
  const found: KubernetesObject[] = [];
  for (const folder of (await Promise.all(folders.map(expanded))).flat()) {
    const names = (await readdir(join(projectFolder(), folder))).filter((name) => name.endsWith('.yaml')).sort();
    for (const name of names) found.push(...(await objectsIn(join(projectFolder(), folder, name))));
  }
  return found.filter(({ kind }) => kind !== 'Kustomization' && kind !== 'Component');
}

/** What files had in them when they were parsed: a process of tests brings up many clusters from the same ones. */
const parsed = new Map<string, readonly KubernetesObject[]>();

async function objectsIn(file: string): Promise<KubernetesObject[]> {
  const text = await readFile(file, 'utf8');
  const objects = parsed.get(text) ?? documents(text);
  parsed.set(text, objects);
  return structuredClone([...objects]);
}

async function expanded(folder: string): Promise<string[]> {
  if (!folder.endsWith('/*')) return [folder];
  const parent = folder.slice(0, -2);
  return (await readdir(join(projectFolder(), parent))).sort().map((name) => `${parent}/${name}`);
}

/** Identifies the object of a manifest. */
export const manifestKey = ({ apiVersion, kind, metadata }: KubernetesObject) =>
  [apiVersion, kind, metadata.namespace ?? '', metadata.name].join(' ');

/** The objects of a YAML text. */
export const documents = (text: string): KubernetesObject[] =>
  parseAllDocuments(text)
    .map((document) => document.toJS() as KubernetesObject | null)
    .filter((object) => object !== null);

/** Definitions first, then namespaces, then the rest. */
export const inInstallOrder = <T extends { kind: string }>(objects: readonly T[]): T[] =>
  objects.toSorted((a, b) => rank(a) - rank(b));

/** Applies as `kubectl apply --server-side` would, in the order of an installation. */
export async function applyManifests(kube: Kube, objects: readonly KubernetesObject[]): Promise<void> {
  for (const object of inInstallOrder(objects)) {
    try {
      await kube.apply(resourceOf(object), object, { fieldManager: 'ot-install', force: true });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      throw new Error(`${object.kind} ${object.metadata.name}: ${error.message}`, { cause: error });
    }
  }
}

const rank = ({ kind }: { kind: string }) => {
  const found = ['CustomResourceDefinition', 'Namespace'].indexOf(kind);
  return found < 0 ? 2 : found;
};

/** Where objects of this kind live, by the same guess that Knative's sources make. */
const resourceOf = ({ apiVersion, kind, metadata }: KubernetesObject): Resource => ({
  apiVersion,
  kind,
  plural: guessedPlural(kind),
  namespaced: metadata.namespace !== undefined,
  parse: (value) => ({
    ...(value as KubernetesObject),
    metadata: ObjectMeta.parse((value as KubernetesObject).metadata),
  }),
});
