import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { defaultPorts, type Ports } from './ports.ts';

const fileIn = (folder: string) => join(folder, 'ports.json');

/** The ports that the cluster of this folder had the last time; undefined without one. */
export async function lastPorts(folder: string): Promise<Ports | undefined> {
  try {
    const kept = JSON.parse(await readFile(fileIn(folder), 'utf8')) as Partial<Ports>;
    const { port, brokerPort, storePort, metricsPort, consolePort } = { ...defaultPorts, ...kept };
    const ports = { port, brokerPort, storePort, metricsPort, consolePort };
    return Object.values(ports).every(Number.isInteger) ? ports : undefined;
  } catch {
    // Never written, or not by us: then there is nothing to go by.
    return undefined;
  }
}

export const rememberPorts = (folder: string, ports: Ports): Promise<void> =>
  writeFile(fileIn(folder), JSON.stringify(ports));

/** The ports with those of the last time where any will do (0) and they are free, so that old addresses hold. */
export async function sameWhereFree(ports: Ports, lastTime: Ports | undefined): Promise<Ports> {
  if (!lastTime) return ports;
  const again = async (name: keyof Ports) =>
    ports[name] === 0 && (await isFree(lastTime[name])) ? lastTime[name] : ports[name];
  return {
    port: await again('port'),
    brokerPort: await again('brokerPort'),
    storePort: await again('storePort'),
    metricsPort: await again('metricsPort'),
    consolePort: await again('consolePort'),
  };
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
