import { added, writesSoFar } from '../../cluster/audit.ts';
import { restartControllerManager, startApiServerIfGone } from '../../cluster/control-plane.ts';
import { install, untilAvailable } from '../../cluster/installation.ts';
import { persistently } from '../../cluster/persistently.ts';
import { adminClient, onRealCluster } from '../../cluster/world.ts';
import { setPolicy, type World } from '../../stories/world.ts';
import { andClearUp } from '../../support/tools/clean-up.ts';
import { check, invariants } from '../invariants/check.ts';
import { chanceOf } from './chance.ts';
import { useImage } from './image-user.ts';
import { killAll } from './killer.ts';
import { useMachine } from './machine-user.ts';
import { editPolicy, policyOf, restorePolicy } from './policy-editor.ts';
import { formatProgress, outcomesOf } from './progress.ts';
import type { SoakResult } from './report.ts';
import { untilAtRest } from './rest.ts';
import { cdiFaults, fillStore } from './sources.ts';
import type { Tally, User } from './user.ts';

export interface SoakOptions {
  minutes: number;
  /** The same seed repeats the operations of users and the order of kills, but not their results. */
  seed: number;
  say(line: string): void;
  /** Ends it early. */
  signal: AbortSignal;
}

const images = Array.from({ length: 6 }, (_, index) => `disk-${index}`);
const machines = ['vm-0', 'vm-1', 'vm-2', 'vm-3'];
const ofMachines: readonly [string, ...string[]] = ['disk-0', 'disk-1', 'base-0', 'base-1'];

/** As in test/cluster/overlays/fast. */
const timers = { sweepMs: 1000, auditMs: 20_000 };
/** Two audits and a margin. */
const quietMs = 45_000;
/** While the API server is unavailable, the recorder receives nothing: changes may be recorded this much later. */
const skewMs = 30_000;
const restWithinMs = 300_000;
const reportEveryMs = 5000;

/**
 * Lets users work on the cluster of KUBECONFIG, with the installed functions, while its processes are killed; then stops both, waits
 * until everything is at rest, and judges the history.
 */
export async function soak(options: SoakOptions): Promise<SoakResult> {
  const { seed, minutes, say } = options;
  say(`${minutes} minutes with the seed ${seed}; installing the functions`);
  await install('serving');
  let result: SoakResult | undefined;
  await onRealCluster(
    {
      name: 'soak',
      // Judged here, where the timers and the time of rest are known.
      allows: invariants.map(({ number }) => number),
      simulators: { cdi: { faults: cdiFaults } },
      run: async (world) => {
        result = await run(world, options);
      },
    },
    { kube: adminClient(), broker: '', goneWithinMs: 120_000 },
  );
  if (!result) throw new Error('expected a result of the soak, found none');
  return result;
}

async function run(world: World, { minutes, seed, say, signal }: SoakOptions): Promise<SoakResult> {
  const before = await writesSoFar();
  const startedMs = Date.now();
  await fillStore(world);
  await setPolicy(world, policyOf(world));
  const tally: Tally = new Map();
  const kills: Tally = new Map();
  const stop = new AbortController();
  const over = AbortSignal.any([signal, stop.signal, AbortSignal.timeout(minutes * 60_000)]);
  const user = (number: number): User => ({ world, chance: chanceOf(seed, number), signal: over, tally });
  const progress = setInterval(
    () => say(formatProgress(startedMs, minutes, world.history.changes(), kills)),
    reportEveryMs,
  );
  const all = [
    ...images.map((name, index) => useImage(user(index), name)),
    ...machines.map((name, index) => useMachine(user(100 + index), name, ofMachines)),
    editPolicy(user(200)),
    killAll(chanceOf(seed, 300), kills, over),
  ];
  await andClearUp(
    // If one fails, the others end too.
    () => Promise.all(all),
    () => stop.abort(),
    () => Promise.allSettled(all),
    () => clearInterval(progress),
    // A kill that was interrupted leaves no functions, and without them the users' objects cannot be deleted.
    startApiServerIfGone,
  );
  signal.throwIfAborted();
  say('all faults are over');
  world.store.faults.splice(0);
  world.store.limitTo(undefined);
  await persistently(() => restorePolicy({ world }));
  await restartControllerManager();
  await untilAvailable();
  const stillFromMs = Date.now();
  const changes = () => world.history.changes().length;
  const notAtRest = await untilAtRest({ kube: world.kube, changes, quietMs, withinMs: restWithinMs, say, signal });
  const restAfterMs = Date.now() - stillFromMs;
  const evidence = await world.history.evidence();
  const violations = check({ ...evidence, stillFromMs, ...timers, skewMs });
  return {
    ok: violations.length === 0 && notAtRest.length === 0,
    seed,
    minutes,
    kills: Object.fromEntries(kills),
    done: { ...Object.fromEntries(tally), ...outcomesOf(evidence.changes) },
    writes: added(before, await writesSoFar()),
    changes: evidence.changes.length,
    restAfterMs,
    notAtRest,
    violations,
  };
}
