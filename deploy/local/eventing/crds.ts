import { readdir, readFile } from 'node:fs/promises';
import { parse } from 'yaml';

/** The CustomResourceDefinitions of Broker, Trigger, EventType, ApiServerSource and PingSource, to be applied to the API server. */
export async function readEventingCrds(): Promise<object[]> {
  const folder = new URL('crds/', import.meta.url);
  const files = (await readdir(folder)).filter((name) => name.endsWith('.yaml')).sort();
  return Promise.all(files.map(async (name) => parse(await readFile(new URL(name, folder), 'utf8')) as object));
}
