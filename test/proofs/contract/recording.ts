import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { recordedJson } from '../../support/tools/recorded-json.ts';

/** The masked answers of a real server, by case: one for each step. */
export type Recording = Record<string, unknown[]>;

const folder = new URL('./recorded/', import.meta.url);
const fileOf = (group: string) => new URL(`${group}.json`, folder);

/** Whether this run writes down what a real server says instead of comparing with it (`CONTRACT_UPDATE=1`). */
export const isUpdate = () => process.env.CONTRACT_UPDATE === '1';

/** What was recorded of a group of cases; nothing where it never was. */
export async function readRecording(group: string): Promise<Recording> {
  try {
    return JSON.parse(await readFile(fileOf(group), 'utf8')) as Recording;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}

/** Keeps what a real server said. */
export async function writeRecording(group: string, recording: Recording) {
  await mkdir(folder, { recursive: true });
  await writeFile(fileOf(group), recordedJson(recording));
}
