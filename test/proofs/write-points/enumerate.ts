import { leaseRef } from '../../../shared/images/slots.ts';
import { Lease } from '../../../shared/kinds/coordination/lease.ts';
import { recordHistory } from '../../stories/history.ts';
import { check, compare, describeViolation } from '../invariants/check.ts';
import type { History } from '../invariants/history.ts';
import { type WriteFault, type WritePoint, writeFaults } from './fault-proxy.ts';
import { makeImage, removeImage } from './journey.ts';
import { auditMs, type SetUp, sweepMs } from './set-up.ts';

/** The result of injecting each fault at each write of a journey, one per run. */
export interface Enumeration {
  /** The writes of the runs without a fault. */
  points: readonly WritePoint[];
  runs: number;
  /** Faults whose write never came in several tries: two reconciles may share their writes. */
  unmet: readonly string[];
  /** Violations and different final states, each with the fault of its run. */
  findings: readonly string[];
}

interface Fault {
  at: WritePoint;
  what: WriteFault;
}

const tries = 3;

/**
 * Runs the journey twice without a fault, then once for each of its writes and each fault, or for every n-th of these. Only the
 * first journey of a cluster creates the Lease of the slots: the faults of that write need a cluster without one.
 */
export async function enumerateWritePoints(
  parts: SetUp,
  say: (line: string) => void = () => undefined,
  everyNth = 1,
): Promise<Enumeration> {
  const first = await runOnce(parts, { withoutLease: true });
  const reference = await runOnce(parts, {});
  const findings = [first, reference].flatMap((run) => judge(run).map((finding) => `no fault: ${finding}`));
  const onlyFirst = first.points.filter((point) => isOfLease(point) && !reference.points.includes(point));
  const points = [...onlyFirst, ...reference.points];
  const all = points.flatMap((at) => writeFaults.map((what): Fault => ({ at, what })));
  const faults = all.filter((_, index) => index % everyNth === 0);
  const unmet: string[] = [];
  let runs = 0;
  for (const fault of faults) {
    const words = `${fault.what} at ${fault.at}`;
    let wasInjected = false;
    for (let tried = 0; tried < tries && !wasInjected; tried++) {
      const startedMs = performance.now();
      const withoutLease = onlyFirst.includes(fault.at);
      const run = await runOnce(parts, { fault, withoutLease }).catch((error: unknown) => failed(error, parts, words));
      runs++;
      wasInjected = run.wasInjected;
      const found = judge(run, withoutLease ? first : reference);
      findings.push(...found.map((finding) => `${words}: ${finding}`));
      const ms = Math.round(performance.now() - startedMs);
      say(`${wasInjected ? words : `${words} came to nothing`}: ${found.length} findings, ${ms} ms`);
    }
    if (!wasInjected) unmet.push(words);
  }
  return { points, runs, unmet, findings };
}

interface Run {
  points: readonly WritePoint[];
  wasInjected: boolean;
  /** The history until the image is ready and everything at rest, and the whole history. */
  histories: readonly [History, History];
}

const isOfLease = (point: WritePoint) => point.includes('leases');

async function runOnce(parts: SetUp, { fault, withoutLease }: { fault?: Fault; withoutLease?: boolean }): Promise<Run> {
  if (withoutLease) await parts.kube.delete(Lease, leaseRef);
  const history = await recordHistory(parts.kube);
  try {
    parts.proxy.begin(fault);
    const timers = { sweepMs, auditMs };
    const madeMs = Date.now();
    await makeImage(parts);
    const ready = { ...(await history.evidence()), ...timers, stillFromMs: madeMs };
    const removedMs = Date.now();
    await removeImage(parts);
    const whole = { ...(await history.evidence()), ...timers, stillFromMs: removedMs };
    return { points: [...parts.proxy.points()], wasInjected: parts.proxy.wasInjected(), histories: [ready, whole] };
  } finally {
    await history.stop();
  }
}

/** A journey that fails leaves no objects for the next one. */
async function failed(error: unknown, { processes }: SetUp, words: string): Promise<never> {
  const log = (await processes.log()).split('\n').slice(-30).join('\n');
  throw new Error(
    `${words}: ${error instanceof Error ? error.message : String(error)}\n\nThe functions said:\n${log}`,
    { cause: error },
  );
}

/** What the run breaks by itself, and compared with the run without a fault. */
function judge({ histories: [ready, whole] }: Run, reference?: Run): string[] {
  const [wantedReady, wantedWhole] = reference?.histories ?? [];
  const violations = [
    ...check(ready),
    ...check(whole),
    ...(wantedReady ? compare(wantedReady, ready) : []),
    ...(wantedWhole ? compare(wantedWhole, whole) : []),
  ];
  return [...new Set(violations.map(describeViolation))];
}
