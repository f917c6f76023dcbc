import { uniqueByName } from '../distinct.ts';
import { Workspace } from '../kinds/pelotech/workspace.ts';
import { imageLabel, imageNamesOf } from '../workspaces/images.ts';
import type { Kube, ListOptions } from './kube.ts';

/** For more images than this one list of all workspaces costs less than a list for each: the API server walks them all either way. */
const mostLists = 20;

/** The workspaces that name images of one of these names, each once, if compose-workspace has labelled them. `options` leave out others. */
export async function workspacesNaming(
  kube: Pick<Kube, 'list'>,
  images: Iterable<string>,
  options?: Pick<ListOptions, 'fieldSelector'>,
): Promise<Workspace[]> {
  const names = new Set(images);
  if (names.size > mostLists) {
    const all = await kube.list(Workspace, options);
    return all.filter((workspace) => imageNamesOf(workspace).some((name) => names.has(name)));
  }
  const listOf = (name: string) => kube.list(Workspace, { ...options, labelSelector: imageLabel(name) });
  return uniqueByName((await Promise.all([...names].map(listOf))).flat());
}
