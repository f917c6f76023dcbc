import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import { inImagesRole, publicBroker } from '../../../shared/operator.ts';
import { projectFolder } from '../../project-folder.ts';
import { type Cluster, InstallError } from './cluster.ts';
import { inventoryOf, obsoleteOf } from './inventory.ts';
import { type AnyObject, Broker, formatObject, KnativeService } from './kinds.ts';
import { builtIn, isBuiltIn, readWanted } from './manifests.ts';
import { servedAt } from './requirement.ts';

/** Annotation on the public Broker with the installed overlay: an upgrade with another one would delete objects. */
const overlayAnnotation = 'pelotech.ot/overlay';

/** The manifests of an overlay; the public Broker's annotation names the overlay. */
export const withOverlay = (wanted: readonly AnyObject[], overlay: string): AnyObject[] =>
  wanted.map((object) => {
    if (object.kind !== Broker.kind || object.metadata.name !== publicBroker) return object;
    const annotations = { ...object.metadata.annotations, [overlayAnnotation]: lastingName(overlay) };
    return { ...object, metadata: { ...object.metadata, annotations } };
  });

/** The installed overlay; else the one that suits the cluster. */
export async function overlayOf(cluster: Cluster): Promise<string> {
  const { broker } = await inventoryOf(cluster, { broker: [Broker] });
  const [recorded] = broker.flatMap(({ metadata }) => metadata.annotations?.[overlayAnnotation] ?? []);
  if (recorded) return placeOf(recorded);
  const inventory = await inventoryOf(cluster);
  const wanted = Object.values(inventory).some((objects) => objects.length > 0)
    ? (await Promise.all(builtIn.map((overlay) => readWanted(overlay)))).flat()
    : [];
  const obsolete = Object.values(obsoleteOf(inventory, wanted)).flat();
  assertNoneOf(obsolete.filter((object) => !isInImageNamespace(object)));
  const isServing = inventory.functions.some(({ apiVersion }) => apiVersion === KnativeService.apiVersion);
  if (inventory.functions.length > 0) return isServing ? 'serving' : 'deployments';
  return (await servedAt(cluster, 'services.serving.knative.dev', 'v1')) ? 'serving' : 'deployments';
}

/** Made for the namespaces of images that the policy names, in no overlay. */
const isInImageNamespace = (object: KubernetesObject) =>
  (object as { roleRef?: { name?: string } }).roleRef?.name === inImagesRole(object.metadata.name);

function assertNoneOf([first, ...more]: readonly AnyObject[]): void {
  if (!first) return;
  throw new InstallError(
    `expected to know which overlay is installed, found ${formatObject(first)}${more.length > 0 ? ` and ${more.length} more` : ''}, which would be removed, for neither ${builtIn.join(' nor ')} has it; name it with --overlay. Nothing was changed.`,
  );
}

/** A folder inside this project has the same name in every checkout. */
function lastingName(overlay: string): string {
  if (isBuiltIn(overlay) || !existsSync(overlay)) return overlay;
  const inProject = relative(projectFolder(), resolve(overlay));
  return inProject.startsWith('..') ? resolve(overlay) : `./${inProject}`;
}

const placeOf = (name: string) => (name.startsWith('./') ? resolve(projectFolder(), name) : name);
