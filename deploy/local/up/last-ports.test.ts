import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lastPorts, rememberPorts, sameWhereFree } from './last-ports.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'last-ports-'));
});

afterEach(() => rm(folder, { recursive: true }));

const any = { port: 0, brokerPort: 0, storePort: 0, metricsPort: 0, consolePort: 0 };

test('ports are remembered; a missing or invalid file is ignored', async () => {
  expect(await lastPorts(folder)).toBeUndefined();
  await rememberPorts(folder, { ...any, port: 4711 });
  expect(await lastPorts(folder)).toEqual({ ...any, port: 4711 });
  await writeFile(join(folder, 'ports.json'), '{"port":"x"}');
  expect(await lastPorts(folder)).toBeUndefined();
});

test('where any port will do, it is the former port if that is free', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const address = other.address();
  const taken = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const lastTime = { ...any, port: taken, metricsPort: 9000 };
  expect(await sameWhereFree({ ...any, metricsPort: 9001 }, lastTime)).toEqual({ ...any, metricsPort: 9001 });
  await new Promise((resolve) => other.close(resolve));
  expect((await sameWhereFree(any, lastTime)).port).toBe(taken);
});
