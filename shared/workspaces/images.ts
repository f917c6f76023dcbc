import type { VirtualMachine } from '../kinds/pelotech/virtual-machine.ts';
import { createdBy, type VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import { madeForWorkspaces, type Workspace } from '../kinds/pelotech/workspace.ts';
import type { ObjectReference } from '../kinds/resource.ts';
import { digestOf, isLabelValue } from '../kubernetes/names.ts';
import { isValid, type Policy } from '../policy.ts';
import { namespaceOf } from './workspace.ts';

/** The names of the images that a workspace wants, each once. */
export const imageNamesOf = ({ spec }: Pick<Workspace, 'spec'>): string[] => [
  ...new Set((spec.vms ?? []).map(({ backingVMDiskImage }) => backingVMDiskImage)),
];

const imageLabelPrefix = 'image.pelotech.ot/';

/** The label of a workspace for an image that it names. By it the workspaces of one image are listed, and no others. */
export const imageLabel = (image: string) => `${imageLabelPrefix}${isLabelValue(image) ? image : digestOf(image)}`;

/** How the labels of a workspace differ from what its spec names; null removes one. */
export function imageLabelChanges(workspace: Workspace): Record<string, '' | null> {
  const wanted = new Set(imageNamesOf(workspace).map(imageLabel));
  const labels = Object.keys(workspace.metadata.labels ?? {});
  const found = new Set(labels.filter((key) => key.startsWith(imageLabelPrefix)));
  const missing = [...wanted.difference(found)].map((key) => [key, ''] as const);
  const obsolete = [...found.difference(wanted)].map((key) => [key, null] as const);
  return Object.fromEntries([...missing, ...obsolete]);
}

/** The namespace in which a workspace holds the image of that name; undefined while it has found none. */
export const heldNamespace = ({ status }: Pick<Workspace, 'status'>, image: string) =>
  status?.images?.find(({ name }) => name === image)?.namespace;

/**
 * Whether a workspace uses that image, or waits for it: a bare name may mean an image in any of the policy's namespaces
 * until the workspace holds one. A workspace that is being deleted uses none; its machines do as long as they exist.
 */
function usesImage(workspace: Workspace, image: ObjectReference, policy: Policy): boolean {
  if (workspace.metadata.deletionTimestamp !== undefined) return false;
  if (!imageNamesOf(workspace).includes(image.name)) return false;
  const held = heldNamespace(workspace, image.name);
  if (held !== undefined) return held === image.namespace;
  return !isValid(policy, 'imageNamespaces') || policy.values.imageNamespaces.includes(image.namespace ?? '');
}

/**
 * The workspaces among these that use the image or wait for it, and have none of these machines, which would count for them.
 * Sorted by name.
 */
export const waitingAmong = (
  workspaces: readonly Workspace[],
  image: ObjectReference,
  { machines, policy }: { machines: readonly VirtualMachine[]; policy: Policy },
): Workspace[] =>
  workspaces
    .filter((workspace) => usesImage(workspace, image, policy))
    .filter(({ metadata }) => !machines.some((machine) => machine.metadata.namespace === namespaceOf(metadata.name)))
    .sort(({ metadata: a }, { metadata: b }) => (a.name < b.name ? -1 : 1));

/** How a workspace is named among the references of an image. */
export const formatWorkspace = ({ metadata }: Pick<Workspace, 'metadata'>) => `Workspace ${metadata.name}`;

/** The image was made for a workspace, and no pipeline has published it since: when nothing uses it, it is deleted, whatever the policy's `prune`. */
export const isMadeForWorkspaces = ({ metadata: { labels } }: VMDiskImage) =>
  labels?.[createdBy] !== 'preload' &&
  Object.entries(madeForWorkspaces).every(([key, value]) => labels?.[key] === value);
