import { readFile, writeFile } from 'node:fs/promises';
import { recordedJson } from '../support/tools/recorded-json.ts';
import type { Told } from './contract-run.ts';

/** The masked answers of the real services, by case: one for each step. */
export type Recording = Record<string, Told[]>;

const file = new URL('./contract.recorded.json', import.meta.url);

/** Whether this run writes down what the real services say instead of comparing with it (`CONTRACT_UPDATE=1`). */
export const isUpdate = () => process.env.CONTRACT_UPDATE === '1';

/** What was recorded; nothing where it never was. */
export async function readRecording(): Promise<Recording> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Recording;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}

/** Keeps what the real services said. */
export async function writeRecording(recording: Recording): Promise<void> {
  await writeFile(file, recordedJson(recording));
}
