import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { argumentOf, UsageError, wholeNumber } from '../../../deploy/terminal/arguments.ts';
import { endWithReader, lookOf } from '../../../deploy/terminal/output.ts';
import { stopSignals } from '../../../deploy/terminal/stop-signals.ts';

const help = `npm run soak [-- [minutes] [options]]

Brings up a real Kubernetes with real Knative of its own, installs the functions, and lets users work there: they make,
change, delete and recreate images and machines, request syncs, make valid and invalid edits of the policy, while downloads fail. All
that time pods of the functions, of the Broker, of the sources and timers, and the API server are killed (SIGKILL). Then all
faults stop, everything has to come to rest, and the history of all objects is judged by the invariants (test/proofs/invariants).

Options
  minutes    how long users work and things are killed, 1 to 240; 30 by default
  --seed N   the same users and the same order of kills as in the run that printed this seed
  --json     print the result as one JSON document
  --help     print this

Progress goes to stderr. Exit code: 0 if all came to rest and no invariant was broken, 1 if not, 2 for a wrong option, 130
if it was stopped.

Examples
  npm run soak
  npm run soak -- 2 --seed 7
  npm run --silent soak -- 10 --json | jq '.violations'
`;

interface Wanted {
  minutes: number;
  seed: number;
  isJson: boolean;
}

async function main(): Promise<number> {
  try {
    const wanted = wantedOf(process.argv.slice(2));
    if (wanted === 'help') {
      process.stdout.write(help);
      return 0;
    }
    return await (process.env.OT_CLUSTER_STATE ? here(wanted) : onOwnCluster(wanted));
  } catch (error) {
    process.stderr.write(`soak: ${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

const options = { seed: { type: 'string' }, json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const;

function wantedOf(args: string[]): Wanted | 'help' {
  const { values, argument: minutes = '30' } = argumentOf('npm run soak --', args, options, 'minutes');
  if (values.help) return 'help';
  return {
    minutes: wholeNumber('minutes', minutes, 1, 240),
    seed: wholeNumber('--seed', values.seed ?? `${Date.now() % 1_000_000}`, 0, 999_999_999),
    isJson: values.json === true,
  };
}

/** Runs on the cluster of the environment. */
async function here({ minutes, seed, isJson }: Wanted): Promise<number> {
  endWithReader(process.stdout);
  const [{ soak }, { report }] = await Promise.all([import('./soak.ts'), import('./report.ts')]);
  const { signal, exitCode, off } = stopSignals();
  try {
    const result = await soak({ minutes, seed, say, signal });
    const text = isJson ? JSON.stringify(result, undefined, 2) : report(result, lookOf(process.stdout)).join('\n');
    process.stdout.write(`${text}\n`);
    return result.ok ? 0 : 1;
  } catch (error) {
    if (!signal.aborted) throw error;
    return exitCode();
  } finally {
    off();
  }
}

const say = (line: string) => process.stderr.write(`soak: ${line} ...\n`);

const reportEveryMs = 10_000;

/** Runs in a process with a cluster, which is created for it and deleted afterwards. */
async function onOwnCluster({ minutes, seed, isJson }: Wanted): Promise<number> {
  const { exitCode, off } = stopSignals();
  const script = fileURLToPath(new URL('../../cluster/on-own-cluster', import.meta.url));
  const args = [`${minutes}`, '--seed', `${seed}`, ...(isJson ? ['--json'] : [])];
  const child = spawn(script, ['node', 'test/proofs/soak/main.ts', ...args], { stdio: ['ignore', 'inherit', 'pipe'] });
  const startedMs = Date.now();
  const waiting = setInterval(
    () => say(`bringing a cluster up for ${Math.round((Date.now() - startedMs) / 1000)} s`),
    reportEveryMs,
  );
  child.stderr.on('data', (bytes: Buffer) => {
    if (bytes.includes('soak: ')) clearInterval(waiting);
    process.stderr.write(bytes);
  });
  try {
    const code = await new Promise<number | null>((resolve, reject) =>
      child.once('error', reject).once('close', resolve),
    );
    return exitCode() || (code ?? 1);
  } finally {
    clearInterval(waiting);
    off();
  }
}

process.exitCode = await main();
