import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { recordedJson } from '../../support/tools/recorded-json.ts';

/** By case: the masked answers of a real server, one for each step; or where those of another version differ from them. */
export type Recording = Record<string, unknown[]>;

/** The Kubernetes whose answers are recorded whole, and whose words the local API server speaks; of others only the differences are recorded. */
export const recordedVersion = '1.34';

const folder = new URL('./recorded/', import.meta.url);
const fileOf = (name: string) => new URL(`${name}.json`, folder);

/** Whether this run writes down what a real server says instead of comparing with it (`CONTRACT_UPDATE=1`). */
export const isUpdate = () => process.env.CONTRACT_UPDATE === '1';

/** What was recorded of a group of cases, or what differs in a version (`1.37`); nothing where it never was. */
export async function readRecording(name: string): Promise<Recording> {
  try {
    return JSON.parse(await readFile(fileOf(name), 'utf8')) as Recording;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}

/** Keeps what a real server said. */
export async function writeRecording(name: string, recording: Recording) {
  await mkdir(folder, { recursive: true });
  await writeFile(fileOf(name), recordedJson(recording));
}
