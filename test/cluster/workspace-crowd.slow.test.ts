import { afterAll, beforeAll, expect, test } from 'vitest';
import { inWords } from '../proofs/permissions/granted.ts';
import { type CallsOfLabs, callLines, callsEach } from '../stories/calls-of-labs.ts';
import { crowdOfWorkspaces } from '../stories/workspace-crowd.ts';
import { readAudit } from './audit.ts';
import { install } from './installation.ts';
import { portForward } from './kubectl.ts';
import { adminClient, onRealCluster } from './world.ts';

const logFile = process.env.OT_AUDIT_LOG;
if (!logFile) console.warn('skipped: what labs cost in calls needs OT_AUDIT_LOG, which is not set');

let broker: Awaited<ReturnType<typeof portForward>>;
beforeAll(async () => {
  // Timers look at all labs whatever happens: here as seldom as in production.
  await install('serving', { timers: 'production' });
  broker = await portForward('knative-eventing', 'broker-ingress', 80);
});
afterAll(() => broker?.close());

const account = 'compose-workspace';

async function callsOf(labs: number): Promise<CallsOfLabs> {
  const asked = new Map<string, number>();
  const story = crowdOfWorkspaces(labs, 900_000);
  const run: typeof story.run = async (world) => {
    const fromMs = Date.now();
    await story.run(world);
    const { requests } = await readAudit(logFile ?? '');
    for (const request of requests.filter((one) => one.account === account && one.atMs >= fromMs)) {
      const what = inWords(request).replace(`${account} `, '');
      asked.set(what, (asked.get(what) ?? 0) + 1);
    }
  };
  await onRealCluster({ ...story, run }, { kube: adminClient(), broker: broker.url, goneWithinMs: 900_000 });
  return { labs, asked };
}

test.skipIf(!logFile)(
  'twenty labs of ten components at once cost no more calls each than five do',
  async () => {
    const few = await callsOf(5);
    const many = await callsOf(20);
    console.log(callLines(few, many).join('\n'));
    expect(callsEach(many)).toBeLessThan(callsEach(few) * 1.25);
  },
  3_000_000,
);
