import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';

/** Generated files of a folder: name → text. `header` begins the generated files, so that left-over ones are found and removed. */
interface Folder {
  folder: string;
  files: ReadonlyMap<string, string>;
  header?: string;
}

/** The generated part of a Markdown page, between `<!-- NAME -->` and `<!-- /NAME -->`. */
interface Section {
  page: string;
  name: string;
  text: string;
}

export type Generated = Folder | Section;

/** The files below `root` that differ from what is generated: path → the text it should have; undefined for a left-over file. */
export async function drift(all: readonly Generated[], root: URL): Promise<Map<string, string | undefined>> {
  const wanted = new Map<string, string | undefined>();
  for (const one of all) {
    if ('page' in one) {
      const page = wanted.get(one.page) ?? (await readFile(new URL(one.page, root), 'utf8'));
      wanted.set(one.page, withSection(page, one));
    } else {
      for (const path of await obsoleteFiles(one, root)) wanted.set(path, undefined);
      for (const [name, text] of one.files) wanted.set(one.folder + name, text);
    }
  }
  const isSame = async ([path, text]: [string, string | undefined]) =>
    comparable(path, await readIfAny(new URL(path, root))) === comparable(path, text);
  const same = await Promise.all([...wanted].map(isSame));
  return new Map([...wanted].filter((_, index) => !same[index]));
}

/** Brings the files below `root` up to date and returns the paths of those that changed. Files written by hand are left alone. */
export async function write(all: readonly Generated[], root: URL): Promise<string[]> {
  const changed = await drift(all, root);
  for (const [path, text] of changed) {
    const file = new URL(path, root);
    await mkdir(new URL('./', file), { recursive: true });
    await (text === undefined ? rm(file) : writeFile(file, text));
  }
  return [...changed.keys()];
}

function withSection(text: string, { page, name, text: section }: Section): string {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from)
    throw new Error(`${page}: expected the markers ${begin} and ${end}, found none. Put them back.`);
  return `${text.slice(0, from + begin.length)}\n${section}\n${text.slice(to)}`;
}

async function obsoleteFiles({ folder, files, header }: Folder, root: URL): Promise<string[]> {
  if (header === undefined) return [];
  const names = (await readdir(new URL(folder, root), { recursive: true })).filter((name) =>
    /\.(yaml|json)$/.test(name),
  );
  const others = names.filter((name) => !files.has(name)).map((name) => folder + name);
  const texts = await Promise.all(others.map((path) => readFile(new URL(path, root), 'utf8')));
  return others.filter((_, index) => texts[index]?.startsWith(header));
}

const readIfAny = (file: URL) =>
  readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });

/** The formatter may lay JSON out differently: only its content counts. */
const comparable = (path: string, text: string | undefined) =>
  text !== undefined && path.endsWith('.json') ? JSON.stringify(JSON.parse(text)) : text;
