import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import { exampleImage, imageParts } from '../../image/image-name.ts';
import { documents, manifestKey, readManifests } from '../../manifests.ts';
import { projectFolder } from '../../project-folder.ts';
import { InstallError } from './cluster.ts';
import type { AnyObject } from './kinds.ts';

const run = promisify(execFile);

/**
 * All manifests to install: CRDs, namespace and policy, and an overlay as `kubectl kustomize` renders it. An object of the overlay, such
 * as its own policy, replaces ours.
 */
export async function readWanted(overlay: string, image?: string): Promise<AnyObject[]> {
  const theirs = await rendered(overlay);
  const keys = new Set(theirs.map(manifestKey));
  const shipped = (await readShipped()).filter((object) => !keys.has(manifestKey(object)));
  return withImage([...shipped, ...theirs], image);
}

/** The manifests of every installation: CRDs, namespace, policy. */
export const readShipped = (): Promise<AnyObject[]> => readManifests('crds', 'deploy/base');

/** The built-in overlays; any other name is the path of a kustomization. */
export const builtIn = ['serving', 'deployments'] as const;

export const isBuiltIn = (overlay: string) => /^[a-z]+$/.test(overlay);

const folderOf = (overlay: string) => (isBuiltIn(overlay) ? join(projectFolder(), 'knative', overlay) : overlay);

/** Renders with kustomize itself, so that an admin's own overlay (images, patches) works as usual. */
async function rendered(overlay: string): Promise<KubernetesObject[]> {
  try {
    const { stdout } = await run('kubectl', ['kustomize', folderOf(overlay)], { maxBuffer: 64 * 1024 * 1024 });
    return documents(stdout);
  } catch (error) {
    const { code, stderr = '' } = error as { code?: string | number; stderr?: string };
    if (code === 'ENOENT') throw new InstallError('expected kubectl on the PATH, found none; it renders the overlay');
    throw new InstallError(
      `expected a kustomization in ${folderOf(overlay)}, found: ${stderr.trim() || String(error)}`,
    );
  }
}

interface Workload {
  spec?: { template?: { spec?: { containers?: { image?: string }[] } } };
}

const containersOf = (object: AnyObject) => (object as Workload).spec?.template?.spec?.containers ?? [];

export const imagesIn = (object: AnyObject): string[] =>
  containersOf(object)
    .map(({ image }) => image)
    .filter((image) => image !== undefined);

/** The image name in our manifests; only the admin knows the registry. */
export const placeholder = 'ot-functions';

/** A placeholder for an image that only the admin knows. */
export const isPlaceholder = (image: string) => image === placeholder || image === exampleImage;

/** An image without tag and digest. */
export const repositoryOf = (image: string): string => imageParts(image).repository;

/** The manifests with that image instead of the placeholder. */
export const withImage = (objects: readonly AnyObject[], image: string | undefined): AnyObject[] =>
  image === undefined ? [...objects] : objects.map((object) => imaged(object, image));

function imaged(object: AnyObject, image: string): AnyObject {
  const copy = structuredClone(object);
  for (const container of containersOf(copy)) if (isPlaceholder(container.image ?? '')) container.image = image;
  return copy;
}
