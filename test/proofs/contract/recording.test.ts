import { readdir } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { groups } from './cases.ts';
import type { Difference } from './differences.ts';
import { type Recording, readRecording } from './recording.ts';

const files = await readdir(new URL('./recorded/', import.meta.url));
const versions = files.map((name) => name.replace(/\.json$/, '')).filter((name) => /^\d+\.\d+$/.test(name));
const recordings = await Promise.all([...Object.keys(groups), 'kubectl'].map(readRecording));
const recorded: Recording = Object.assign({}, ...recordings);

test('versions of Kubernetes that answer differently are recorded', () => expect(versions).not.toEqual([]));

describe.each(versions)('what Kubernetes %s answers differently', async (version) => {
  test.each(Object.entries(await readRecording(version)))('differs from what is recorded: %s', (name, found) => {
    for (const { at, recorded: told, found: instead } of found as Difference[]) {
      expect(told, at).toEqual(valueAt(recorded[name], at));
      expect(instead, at).not.toEqual(told);
    }
  });
});

/** What stands at a path, whose names may have dots in them. */
function valueAt(value: unknown, path: string): unknown {
  if (path === '') return value;
  const within = Object.entries(value ?? {}).find(([name]) => path === name || path.startsWith(`${name}.`));
  return within && valueAt(within[1], path.slice(within[0].length + 1));
}
