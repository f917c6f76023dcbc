import { test } from 'vitest';
import { inWords } from '../proofs/permissions/granted.ts';
import { expectFlatCost, manyWorkspaces } from '../stories/workspace-scale.ts';
import { readAudit } from './audit.ts';
import { installed } from './installed.ts';
import { adminClient, onRealCluster } from './world.ts';

const logFile = process.env.OT_AUDIT_LOG;
if (!logFile) console.warn('skipped: the cost of labs in calls needs OT_AUDIT_LOG, which is not set');

// Timers read all labs whatever happens: as rarely as in production.
const broker = installed('serving', { timers: 'production' });

const account = 'compose-workspace';

async function callsOf(count: number): Promise<ReadonlyMap<string, number>> {
  const calls = new Map<string, number>();
  const story = manyWorkspaces(count, 900_000);
  const run: typeof story.run = async (world) => {
    const fromMs = Date.now();
    await story.run(world);
    const { requests } = await readAudit(logFile ?? '');
    for (const request of requests.filter((one) => one.account === account && one.atMs >= fromMs)) {
      const what = inWords(request).replace(`${account} `, '');
      calls.set(what, (calls.get(what) ?? 0) + 1);
    }
  };
  await onRealCluster({ ...story, run }, { kube: adminClient(), broker: broker(), goneWithinMs: 900_000 });
  return calls;
}

test.skipIf(!logFile)(
  'twenty workspaces of ten components at once cost no more calls each than five do',
  () => expectFlatCost(callsOf),
  3_000_000,
);
