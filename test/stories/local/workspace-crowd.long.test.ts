import { expect, test } from 'vitest';
import type { LocalCluster } from '../../../deploy/local/start.ts';
import { withoutTimers } from '../../proofs/permissions/story-run.ts';
import { type CallsOfLabs, callLines, callsEach } from '../calls-of-labs.ts';
import { onLocalCluster } from '../local-world.ts';
import { crowdOfWorkspaces } from '../workspace-crowd.ts';

const withinMs = 240_000;

/** No timer runs: those look at all labs whatever happens. */
async function callsOf(labs: number): Promise<CallsOfLabs> {
  let up: LocalCluster | undefined;
  const asked = new Map<string, number>();
  const story = withoutTimers(crowdOfWorkspaces(labs, withinMs));
  const run: typeof story.run = async (world) => {
    await story.run(world);
    for (const [key, count] of up?.server.answers() ?? []) {
      const [, what] = /^system:serviceaccount:sync-operator:compose-workspace (.*) \d+$/.exec(key) ?? [];
      if (what) asked.set(what, (asked.get(what) ?? 0) + count);
    }
  };
  await onLocalCluster({ ...story, run }, undefined, async (cluster) => {
    up = cluster;
  });
  return { labs, asked };
}

test('twenty labs of ten components at once cost no more calls each than five do', async () => {
  const few = await callsOf(5);
  const many = await callsOf(20);
  console.log(callLines(few, many).join('\n'));
  // Events that come together share a pass: how many do depends on what else the machine does.
  expect(callsEach(many)).toBeLessThan(callsEach(few) * 1.25);
}, 600_000);
