import { readFile } from 'node:fs/promises';
import type { ComponentKind, WorkspaceSpec } from '../../../shared/kinds/pelotech/workspace.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import { imageNamesOf } from '../../../shared/workspaces/images.ts';
import { namespaceOf } from '../../../shared/workspaces/workspace.ts';
import { documents } from '../../manifests.ts';

/** The lab of the third act: the one that the users' own proposal shows. */
export const workspaceFile = 'crds/examples/workspace.yaml';

/** Something a workspace is made of. */
export interface Part {
  kind: ComponentKind;
  name: string;
}

/** The lab as someone applies it, and what has to come of it. */
export interface DemoWorkspace {
  manifest: KubernetesObject;
  name: string;
  namespace: string;
  image: string;
  parts: Part[];
  /** The part whose Deployment is deleted under it. */
  fragile: Part;
}

/** Reads the lab; throws where the third act could not be played with it. */
export async function readWorkspace(): Promise<DemoWorkspace> {
  const [manifest] = documents(await readFile(new URL(`../../../${workspaceFile}`, import.meta.url), 'utf8'));
  const { spec } = (manifest ?? {}) as { spec?: WorkspaceSpec };
  const [cluster] = spec?.containerClusters ?? [];
  const [image] = spec ? imageNamesOf({ spec }) : [];
  if (!manifest || !spec || !cluster || !image) {
    throw new Error(`${workspaceFile}: expected a workspace with a machine and a container cluster, found none`);
  }
  const { name } = manifest.metadata;
  return {
    manifest,
    name,
    namespace: namespaceOf(name),
    image,
    parts: partsOf(name, spec),
    fragile: { kind: 'ContainerCluster', name: cluster.name },
  };
}

const partsOf = (workspace: string, spec: WorkspaceSpec): Part[] => [
  { kind: 'Namespace', name: namespaceOf(workspace) },
  ...imageNamesOf({ spec }).map((name) => ({ kind: 'VMDiskImage', name }) as const),
  ...(spec.networks ?? []).map(({ name }) => ({ kind: 'Network', name }) as const),
  ...(spec.volumes ?? []).map(({ name }) => ({ kind: 'Volume', name }) as const),
  ...(spec.vms ?? []).map(({ name }) => ({ kind: 'VirtualMachine', name }) as const),
  ...(spec.containerClusters ?? []).map(({ name }) => ({ kind: 'ContainerCluster', name }) as const),
];
