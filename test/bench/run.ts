import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { optionsOf, UsageError, wholeNumber } from '../../deploy/terminal/arguments.ts';
import { endWithReader, lookOf } from '../../deploy/terminal/output.ts';
import { type Bound, boundsOf, type Measured } from './bounds.ts';
import { measureStarts } from './cold-start.ts';
import { measureFailedBytes } from './failed-bytes.ts';
import { countLives } from './lives.ts';
import { loadNow, machineOf } from './machine.ts';
import { measureReconciles } from './reconcile-costs.ts';
import { type BenchResult, report } from './report.ts';
import { runSyncs } from './sync-run.ts';

const help = `npm run bench [-- options]

Measures what the functions cost on a local cluster in this process: how fast a free slot is given on, next to the bare
GET + PUT + POST that it takes at least; writes for each image; reads of each reconcile with 0, 100 and 1000 finished images;
calls of a sweep with nothing to do; bytes of downloads that fail; events, deliveries and writes of an image, a machine and a
workspace, which test/bench/life-tables.ts bounds; the start of a process, next to a bare one, and its memory. Holds each figure against what is promised.
Takes two to three minutes and needs no network; where a real cluster can be made (test/cluster/on-own-cluster), it also wakes
functions that sleep there, which takes some four minutes more (not with --json: npm run bench:cluster has its own; nor with
--local).

Options
  --images N   length of the longer queue, 10 to 10000; 200 by default (the shorter one has 10)
  --local      leave the real cluster out
  --counted    hold it only to what is counted (events, writes, reads, calls, bytes, memory), which other work on the machine does not
               change, and time each start once; without the real cluster
  --json       print the result as one JSON document
  --help       print this

Progress goes to stderr. Exit code: 0 if all promises hold, 1 if one is broken, 2 for a wrong option.

Examples
  npm run bench
  npm run bench -- --counted --images 40
  npm run --silent bench -- --json | jq '.bounds[] | select(.holds | not)'
`;

const shortQueue = 10;
const startRounds = 15;
const wakeRounds = 3;
const finishedCounts = [0, 100, 1000];

async function main(): Promise<number> {
  try {
    const options = optionsOf('npm run bench --', process.argv.slice(2), {
      images: { type: 'string', default: '200' },
      local: { type: 'boolean' },
      counted: { type: 'boolean' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    });
    if (options.help) {
      process.stdout.write(help);
      return 0;
    }
    return await bench(wholeNumber('--images', options.images, 10, 10_000), {
      isJson: options.json === true,
      isLocal: options.local === true,
      isCounted: options.counted === true,
    });
  } catch (error) {
    process.stderr.write(`bench: ${error instanceof Error ? error.message.replaceAll('\n', ' ') : String(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

interface Choice {
  isJson: boolean;
  isLocal: boolean;
  isCounted: boolean;
}

async function bench(images: number, { isJson, isLocal, isCounted }: Choice): Promise<number> {
  endWithReader(process.stdout);
  const startedMs = performance.now();
  const loadBefore = loadNow();
  const measured = await measure(images, isCounted ? 1 : startRounds);
  const bounds: Bound[] = boundsOf(measured).filter(({ isTimed }) => !(isCounted && isTimed));
  const ok = bounds.every(({ holds }) => holds);
  const tookMs = performance.now() - startedMs;
  const result: BenchResult = { ok, tookMs, machine: machineOf(loadBefore), ...measured, bounds };
  const text = isJson ? JSON.stringify(result, undefined, 2) : report(result, lookOf(process.stdout)).join('\n');
  process.stdout.write(`${text}\n`);
  if (isJson || isLocal || isCounted) return ok ? 0 : 1;
  const woken = await wakeOnRealCluster();
  return ok && woken === 0 ? 0 : 1;
}

/** Waking a function takes a real Knative Serving; without one, the script reports that. */
const wakeOnRealCluster = (): Promise<number | null> => {
  const script = fileURLToPath(new URL('../cluster/on-own-cluster', import.meta.url));
  const bench = fileURLToPath(new URL('cluster/bench.ts', import.meta.url));
  const child = spawn(script, ['node', bench, '--only', 'wake', '--rounds', String(wakeRounds)], { stdio: 'inherit' });
  return new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve));
};

async function measure(images: number, rounds: number): Promise<Measured> {
  const publish = (line: string) => process.stderr.write(`bench: ${line} ...\n`);
  publish(`a queue of ${shortQueue}`);
  const short = await runSyncs(shortQueue);
  publish(`a queue of ${images}`);
  const long = await runSyncs(images);
  publish(`reconciles with ${finishedCounts.join(', ')} finished images`);
  const reconciles = await measureReconciles(finishedCounts);
  publish('downloads that fail');
  const bytes = await measureFailedBytes();
  publish('events and writes of images, machines and workspaces');
  const lives = await countLives();
  publish('processes from their start');
  const starts = await measureStarts(rounds);
  return { runs: [short, long], reconciles, bytes, lives, starts };
}

process.exit(await main());
