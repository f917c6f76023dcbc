import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exampleImage, imageParts } from '../image/image-name.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The placeholder image in the overlays of production. */
const placeholder = imageEntry(exampleImage);

/** The manifests that kustomize reads, by their paths, with the release's image in the overlays of production. */
export async function manifestFiles(image: string): Promise<Map<string, string>> {
  const folders = ['crds', 'knative', 'deploy/base', 'deploy/production', 'deploy/monitoring'];
  const names = (await Promise.all(folders.map(filesIn))).flat().filter((name) => !isOther.test(name));
  const texts = names.map(async (name) => {
    const text = await readFile(join(root, name), 'utf8');
    return [name, text.replace(placeholder, imageEntry(image))] as const;
  });
  return new Map(await Promise.all(texts));
}

const isOther = /^(?:crds\/examples|deploy\/production\/(?:chart|events|flux|health))\/|\.(?:ts|md)$/;

/** The paths of all files in a folder, sorted. */
export async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(root.length).replaceAll('\\', '/'))
    .sort();
}

function imageEntry(image: string): string {
  const { repository, tag, digest } = imageParts(image);
  return `newName: ${repository}\n    ${digest ? `digest: ${digest}` : `newTag: ${tag}`}`;
}
