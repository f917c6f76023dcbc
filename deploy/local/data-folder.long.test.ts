import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { onLocalCluster } from '../../test/stories/local-world.ts';
import { stories } from '../../test/stories/scale.ts';
import { type DataFolder, openDataFolder } from './data-folder.ts';

interface Cost {
  tookMs: number;
  /** Of the processor, which does not depend on who else is at work on this machine. */
  workMs: number;
}

async function costOf(dataFolder?: DataFolder): Promise<Cost> {
  const began = { ms: performance.now(), work: process.cpuUsage() };
  for (const story of stories) await onLocalCluster(story, dataFolder);
  const { user, system } = process.cpuUsage(began.work);
  return { tookMs: performance.now() - began.ms, workMs: (user + system) / 1000 };
}

async function costInFolder(): Promise<Cost> {
  const folder = await mkdtemp(join(tmpdir(), 'data-folder-'));
  const dataFolder = openDataFolder(folder);
  try {
    return await costOf(dataFolder);
  } finally {
    dataFolder.close();
    await rm(folder, { recursive: true });
  }
}

test('200 images cost at most 1.3 times as much on a cluster that is kept', { timeout: 600_000 }, async () => {
  // In this order, so that what is loaded and compiled only once is not laid on the cluster that is kept alone.
  const kept = [await costInFolder()];
  const inMemory = [await costOf(), await costOf()];
  kept.push(await costInFolder());
  const seconds = (costs: Cost[], of: keyof Cost) => Math.min(...costs.map((cost) => cost[of])) / 1000;
  const line = (of: keyof Cost) => {
    const [memory, folder] = [seconds(inMemory, of), seconds(kept, of)];
    return `${memory.toFixed(2)} s in memory, ${folder.toFixed(2)} s in a folder: ${(folder / memory).toFixed(2)} times`;
  };
  console.log(`200 images took ${line('tookMs')}\n           work ${line('workMs')}`);
  expect(seconds(kept, 'workMs') / seconds(inMemory, 'workMs')).toBeLessThan(1.3);
});
