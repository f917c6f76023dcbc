import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { stringify } from 'yaml';
import type { World } from './world.ts';

type Kubectl = NonNullable<World['kubectl']>;

/** Runs `kubectl apply` of a manifest, with these other arguments. */
export async function apply(kubectl: Kubectl, manifest: object | string, ...more: string[]): ReturnType<Kubectl> {
  const folder = await mkdtemp(join(tmpdir(), 'ot-manifest-'));
  try {
    const file = join(folder, 'manifest.yaml');
    await writeFile(file, typeof manifest === 'string' ? manifest : stringify(manifest));
    return await kubectl('apply', ...more, '-f', file);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** What a command prints that has to succeed. */
export async function ok(result: ReturnType<Kubectl>): Promise<string> {
  const { code, out, err } = await result;
  expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
  return out;
}
