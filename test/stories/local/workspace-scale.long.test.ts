import { test } from 'vitest';
import type { LocalCluster } from '../../../deploy/local/start.ts';
import { withoutTimers } from '../../proofs/permissions/story-run.ts';
import { onLocalCluster } from '../local-world.ts';
import { expectFlatCost, manyWorkspaces } from '../workspace-scale.ts';

const withinMs = 240_000;

/** Without timers, which read all labs whatever happens. */
async function callsOf(count: number): Promise<ReadonlyMap<string, number>> {
  let up: LocalCluster | undefined;
  const calls = new Map<string, number>();
  const story = withoutTimers(manyWorkspaces(count, withinMs));
  const run: typeof story.run = async (world) => {
    await story.run(world);
    for (const [key, times] of up?.server.answers() ?? []) {
      const [, what] = /^system:serviceaccount:sync-operator:compose-workspace (.*) \d+$/.exec(key) ?? [];
      if (what) calls.set(what, (calls.get(what) ?? 0) + times);
    }
  };
  await onLocalCluster({ ...story, run }, undefined, async (cluster) => {
    up = cluster;
  });
  return calls;
}

test(
  'twenty workspaces of ten components at once cost no more calls each than five do',
  () => expectFlatCost(callsOf),
  600_000,
);
