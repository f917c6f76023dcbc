import { Lease } from '../../shared/resources/coordination/lease.ts';
import type { VMDiskImage } from '../../shared/resources/pelotech/vm-disk-image.ts';
import { operatorNamespace } from '../../shared/rules/operator.ts';
import { leaseName } from '../../shared/rules/slots.ts';
import { breachOf, type Change, recordHistory } from '../journeys/history.ts';
import { type WriteFault, type WritePoint, writeFaults } from './fault-proxy.ts';
import { makeImage, removeImage } from './journey.ts';
import type { SetUp } from './set-up.ts';

/** What came of letting every write of a journey go wrong in every way, one in each run. */
export interface Enumeration {
  /** The writes of the run in which nothing went wrong. */
  points: readonly WritePoint[];
  runs: number;
  /** Faults whose write did not come, however often it was tried: two passes may share what they do. */
  unmet: readonly string[];
  /** What broke an invariant, or did not come to the same end, each with the fault of its run. */
  findings: readonly string[];
}

interface Fault {
  at: WritePoint;
  what: WriteFault;
}

const tries = 3;

/**
 * Runs the journey twice with no fault, then for each of its writes once with each fault. The Lease of the slots is made in
 * the first journey of a cluster only: the faults of that write meet a cluster without one.
 */
export async function enumerateWritePoints(
  parts: SetUp,
  say: (line: string) => void = () => undefined,
): Promise<Enumeration> {
  const first = await runOnce(parts, { withoutLease: true });
  const reference = await runOnce(parts, {});
  const onlyFirst = first.points.filter((point) => isOfLease(point) && !reference.points.includes(point));
  const points = [...onlyFirst, ...reference.points];
  const faults = points.flatMap((at) => writeFaults.map((what): Fault => ({ at, what })));
  const unmet: string[] = [];
  const findings: string[] = [];
  let runs = 0;
  for (const fault of faults) {
    const words = `${fault.what} at ${fault.at}`;
    let hasStruck = false;
    for (let tried = 0; tried < tries && !hasStruck; tried++) {
      const startedMs = performance.now();
      const withoutLease = onlyFirst.includes(fault.at);
      const run = await runOnce(parts, { fault, withoutLease }).catch((error: unknown) => failed(error, parts, words));
      runs++;
      hasStruck = run.hasStruck;
      const found = differences(reference, run);
      findings.push(...found.map((finding) => `${words}: ${finding}`));
      say(`${words}: ${found.length} findings, ${Math.round(performance.now() - startedMs)} ms`);
    }
    if (!hasStruck) unmet.push(words);
  }
  return { points, runs, unmet, findings };
}

interface Run {
  points: readonly WritePoint[];
  hasStruck: boolean;
  changes: readonly Change[];
  image: VMDiskImage;
}

const isOfLease = (point: WritePoint) => point.includes('leases');

async function runOnce(parts: SetUp, { fault, withoutLease }: { fault?: Fault; withoutLease?: boolean }): Promise<Run> {
  if (withoutLease) await parts.kube.delete(Lease, { namespace: operatorNamespace, name: leaseName });
  const history = await recordHistory(parts.kube);
  try {
    parts.proxy.begin(fault);
    const image = await makeImage(parts);
    await removeImage(parts);
    const changes = history.changes();
    return { points: [...parts.proxy.points()], hasStruck: parts.proxy.hasStruck(), changes, image };
  } finally {
    await history.stop();
  }
}

/** A journey that does not get to its end leaves nothing to begin the next one with. */
async function failed(error: unknown, { processes }: SetUp, words: string): Promise<never> {
  const log = (await processes.log()).split('\n').slice(-30).join('\n');
  throw new Error(
    `${words}: ${error instanceof Error ? error.message : String(error)}\n\nThe functions said:\n${log}`,
    {
      cause: error,
    },
  );
}

function differences(reference: Run, run: Run): string[] {
  const breach = breachOf(run.changes);
  return [
    ...(breach ? [breach] : []),
    ...unequal('made and deleted', madeAndDeleted(reference.changes), madeAndDeleted(run.changes)),
    ...unequal('the image in the end', lasting(reference.image), lasting(run.image)),
  ];
}

function unequal(what: string, expected: unknown, found: unknown): string[] {
  const [wanted, got] = [JSON.stringify(expected), JSON.stringify(found)];
  return wanted === got ? [] : [`L5: ${what}: expected ${wanted}, found ${got}`];
}

/** How many objects of each kind came and went, but for the one Lease of all journeys. */
function madeAndDeleted(changes: readonly Change[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { type, object } of changes) {
    if (type === 'MODIFIED' || object.kind === Lease.kind) continue;
    const key = `${object.kind} ${type}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return Object.fromEntries(Object.entries(counts).sort(([a], [b]) => a.localeCompare(b)));
}

/** What an image says at rest that is the same in every run. */
const lasting = ({ status }: VMDiskImage) => ({
  phase: status?.phase,
  revision: status?.revision,
  attempts: status?.attempts,
  references: status?.references,
  conditions: status?.conditions?.map(({ type, status, reason }) => `${type} ${status} ${reason}`).sort(),
});
