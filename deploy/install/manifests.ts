import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { KubernetesObject } from '../../shared/kinds/resource.ts';
import { documents, readManifests } from '../manifests.ts';
import { InstallError } from './cluster.ts';
import { type AnyObject, keyOf } from './kinds.ts';

/** What our generated objects carry: how they are found again. */
export const partOf = { 'app.kubernetes.io/part-of': 'ot-functions' } as const;

/** The folder of this project. */
export const projectFolder = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);

/**
 * Everything that is to be there: CRDs, namespace and policy, and an overlay as `kubectl kustomize` renders it. What an
 * overlay has of the former, such as a policy of its own, takes the place of ours.
 */
export async function readWanted(overlay: string, image?: string): Promise<AnyObject[]> {
  const theirs = await rendered(overlay);
  const keys = new Set(theirs.map(keyOf));
  const shipped = (await readShipped()).filter((object) => !keys.has(keyOf(object)));
  return withImage([...shipped, ...theirs], image);
}

/** What every installation has, whatever its overlay: CRDs, namespace, policy. */
export const readShipped = (): Promise<AnyObject[]> => readManifests('crds', 'deploy/base');

/** The overlays that have a name; any other is the path of a kustomization. */
export const builtIn = ['serving', 'deployments'] as const;

export const isBuiltIn = (overlay: string) => /^[a-z]+$/.test(overlay);

const folderOf = (overlay: string) => (isBuiltIn(overlay) ? join(projectFolder, 'knative', overlay) : overlay);

/** kustomize itself and no imitation, so that an admin's own overlay (images, patches) is taken as it is meant. */
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

/** The images a workload runs. */
export const imagesIn = (object: AnyObject): string[] =>
  containersOf(object)
    .map(({ image }) => image)
    .filter((image) => image !== undefined);

/** What our manifests call the image: where it really is only the admin knows. */
export const placeholder = 'ot-functions';

/** The manifests with that image wherever they name none. */
export const withImage = (objects: readonly AnyObject[], image: string | undefined): AnyObject[] =>
  image === undefined ? [...objects] : objects.map((object) => imaged(object, image));

function imaged(object: AnyObject, image: string): AnyObject {
  const copy = structuredClone(object);
  for (const container of containersOf(copy)) if (container.image === placeholder) container.image = image;
  return copy;
}
