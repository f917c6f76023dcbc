import { uniqueByName } from '../distinct.ts';
import { Workspace } from '../kinds/pelotech/workspace.ts';
import { imageLabel, imageNamesOf } from '../workspaces/images.ts';
import type { Kube, ListOptions } from './kube.ts';

/** For more images one list of all workspaces costs less: those that share several images are in the list of each. */
const mostLists = 5;

/** The workspaces that name an image of one of these names and are labelled with it, each once. `options` leave out others. */
export async function workspacesNaming(
  kube: Pick<Kube, 'list'>,
  images: Iterable<string>,
  options?: Pick<ListOptions, 'fieldSelector'>,
): Promise<Workspace[]> {
  const names = new Set(images);
  const listOf = (name: string) => kube.list(Workspace, { ...options, labelSelector: imageLabel(name) });
  const lists =
    names.size > mostLists ? [await kube.list(Workspace, options)] : await Promise.all([...names].map(listOf));
  return uniqueByName(lists.flat()).filter((workspace) => imageNamesOf(workspace).some((name) => names.has(name)));
}
