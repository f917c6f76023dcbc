import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Accepted } from '../proofs/contract/accept.ts';
import type { Difference } from '../proofs/contract/differences.ts';
import { isSlow } from '../stories/openstack/services.ts';
import { groups } from './contract-cases.ts';
import { deviations } from './contract-deviations.ts';
import { differencesOf } from './contract-differences.ts';
import { serveFiles } from './contract-files.ts';
import { isUpdate, readRecording, writeRecording } from './contract-recording.ts';
import { runCase } from './contract-run.ts';
import { realOnes, simulated, type World } from './services.ts';

const recording = await readRecording();
const cases = Object.values(groups).flatMap((group) => Object.keys(group));

describe('the simulator answers as OpenStack did:', { concurrent: true }, () => {
  const accepted = new Accepted(deviations);
  let files: Awaited<ReturnType<typeof serveFiles>>;
  beforeAll(async () => {
    files = await serveFiles();
  });
  afterAll(() => files.close());

  test('every case is recorded, and nothing else', () => {
    expect(Object.keys(recording).sort()).toEqual(cases.sort());
  });
  for (const [group, ofGroup] of Object.entries(groups)) {
    for (const [name, steps] of Object.entries(ofGroup)) {
      test(`${group}: ${name}`, async () => {
        const world = await simulated();
        const found = await runCase(world, steps, { files: files.url }).finally(world.close);
        expect(accepted.refused(name, differencesOf(recording[name], found))).toEqual([]);
      });
    }
  }
  test('each listed deviation is still one', { concurrent: false }, () => expect(accepted.unused()).toEqual([]));
});

const lineOf = ({ at, recorded, found }: Difference) =>
  `${at}: recorded ${JSON.stringify(recorded)}, found ${JSON.stringify(found)}`;

const real = realOnes();

/**
 * What the real services answer changes with OpenStack, not with a commit: a CI run asks a part of it, and nothing of the groups
 * in which they take seconds for each step; `--mode slow` asks all.
 */
const isMeant = (group: string, index: number) =>
  isSlow || isUpdate() || (index % 4 === 0 && group !== 'servers' && group !== 'attachments');

describe.skipIf(!real)('the real services answer as they did:', () => {
  const world = real as World;
  const told: typeof recording = {};
  let files: Awaited<ReturnType<typeof serveFiles>>;
  beforeAll(async () => {
    files = await serveFiles();
  });
  afterAll(async () => {
    await files.close();
    if (isUpdate()) await writeRecording({ ...recording, ...told });
  });

  for (const [group, ofGroup] of Object.entries(groups)) {
    for (const [index, [name, steps]] of Object.entries(ofGroup).entries()) {
      test.skipIf(!isMeant(group, index))(`${group}: ${name}`, { timeout: 180_000 }, async () => {
        const found = await runCase(world, steps, { files: files.url });
        if (isUpdate()) told[name] = found;
        // A line for each, the first one first: what follows a step that failed differs all along.
        else expect(differencesOf(recording[name], found, true).map(lineOf).join('\n')).toBe('');
      });
    }
  }
});
