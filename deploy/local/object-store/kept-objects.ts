import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Content } from './stored-object.ts';

/** The objects of a store in a folder, where they outlive it. */
export interface KeptObjects {
  /** What was there when the store began. */
  found: KeptObject[];
  /** Writes an object down and answers it as it can be read from here. */
  keep(bucket: string, key: string, content: Content): Promise<Content>;
  forget(bucket: string, key: string): Promise<void>;
}

interface KeptObject {
  bucket: string;
  key: string;
  content: Content;
}

/**
 * Opens the folder, creating it if necessary. Each object has a note with its name and what it is made of; the note
 * is put in place last and at once, so that a process that is killed leaves the object as it was or as it is to be.
 */
export async function keptObjects(folder: string): Promise<KeptObjects> {
  await mkdir(folder, { recursive: true });
  const notes = new Map<string, Note>();
  for (const name of await readdir(folder)) {
    if (name.endsWith(noteEnding)) notes.set(name, JSON.parse(await readFile(join(folder, name), 'utf8')) as Note);
  }
  await clearAway(folder, notes);
  return {
    found: [...notes.values()].map((note) => ({
      bucket: note.bucket,
      key: note.key,
      content: contentOf(folder, note),
    })),
    keep: async (bucket, key, content) => {
      const note: Note = { bucket, key, ...(await written(folder, content)) };
      await put(folder, noteName(bucket, key), note);
      const before = notes.get(noteName(bucket, key));
      notes.set(noteName(bucket, key), note);
      if (before?.bytes) await rm(join(folder, before.bytes), { force: true });
      return contentOf(folder, note);
    },
    forget: async (bucket, key) => {
      const before = notes.get(noteName(bucket, key));
      notes.delete(noteName(bucket, key));
      await rm(join(folder, noteName(bucket, key)), { force: true });
      if (before?.bytes) await rm(join(folder, before.bytes), { force: true });
    },
  };
}

/** What an object is made of: a file in this folder, a file of the user, or a seed. */
interface Note {
  bucket: string;
  key: string;
  bytes?: string;
  file?: string;
  seeded?: { size: number; seed: string | number; head?: string };
}

const noteEnding = '.json';

// A key may be longer than the name of a file, and have any characters.
const noteName = (bucket: string, key: string) =>
  `${createHash('sha256').update(`${bucket}/${key}`).digest('hex')}${noteEnding}`;

async function written(folder: string, content: Content): Promise<Omit<Note, 'bucket' | 'key'>> {
  if (typeof content === 'object' && 'seed' in content) {
    const { size, seed, head } = content;
    return { seeded: { size, seed, ...(head ? { head: head.toString('base64') } : {}) } };
  }
  if (typeof content === 'object' && 'file' in content) return { file: content.file };
  const bytes = randomUUID();
  const source = content instanceof Readable ? content : Readable.from([content], { objectMode: false });
  try {
    await pipeline(source, createWriteStream(join(folder, bytes)));
  } catch (error) {
    await rm(join(folder, bytes), { force: true });
    throw error;
  }
  return { bytes };
}

function contentOf(folder: string, { bytes, file, seeded }: Note): Content {
  if (seeded) {
    const { size, seed, head } = seeded;
    return { size, seed, ...(head === undefined ? {} : { head: Buffer.from(head, 'base64') }) };
  }
  return { file: bytes ? join(folder, bytes) : (file ?? '') };
}

async function put(folder: string, name: string, note: Note) {
  const draft = join(folder, `${randomUUID()}.draft`);
  await writeFile(draft, JSON.stringify(note));
  await rename(draft, join(folder, name));
}

/** Removes what a killed process had begun to write. */
async function clearAway(folder: string, notes: ReadonlyMap<string, Note>) {
  const wanted = new Set([...notes.keys(), ...[...notes.values()].map(({ bytes }) => bytes)]);
  for (const name of await readdir(folder)) if (!wanted.has(name)) await rm(join(folder, name));
}
