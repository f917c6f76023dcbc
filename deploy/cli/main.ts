import { basename } from 'node:path';
import { hasStatus } from '../../shared/runtime/errors.ts';
import { UsageError } from '../terminal/arguments.ts';
import { endWithReader, isLive, lookOf } from '../terminal/output.ts';
import { lineOf } from '../terminal/paint.ts';
import { screenOn } from '../terminal/screen.ts';
import { type Stop, stopSignals } from '../terminal/stop-signals.ts';
import { type Call, type Command, exit, loaded, NotFound, Refused, Unreachable } from './command.ts';
import { readCommandLine } from './command-line.ts';
import { commands } from './commands.ts';
import { codeOf } from './exit-code.ts';
import { helpOf, overview } from './help.ts';
import { type Cluster, InstallError } from './install/cluster.ts';
import type { Where } from './install/kubeconfig.ts';
import { describeTrouble } from './install/trouble.ts';
import { nearestOf } from './nearest.ts';

/** The name that the user typed: kubectl runs `kubectl-ot` for `kubectl ot`. */
const called = basename(process.env.OT_CALLED ?? '') === 'kubectl-ot' ? 'kubectl ot' : 'ot-functions';

const stop = stopSignals();
endWithReader(process.stdout);
process.exitCode = await main(process.argv.slice(2), stop);
stop.off();

async function main(args: readonly string[], stop: Stop): Promise<number> {
  const [name = '', ...rest] = args;
  const command = commands.find((known) => known.name === name);
  try {
    if (command) return await run(await loaded(command), rest, stop);
    if (name !== '' && !['help', '--help', '-h'].includes(name)) throw unknown(name);
    const asked = commands.find((known) => known.name === rest[0]);
    process.stdout.write(`${asked ? helpOf(await loaded(asked), called) : overview(commands, called)}\n`);
    return name === '' ? exit.usage : exit.done;
  } catch (error) {
    if (stop.signal.aborted) return stop.exitCode();
    const isNarrowed = command !== undefined && 'namespace' in (await command.load()).options;
    process.stderr.write(`${called}: ${describeError(error, isNarrowed)}\n`);
    return codeOf(error);
  }
}

async function run(command: Command, args: readonly string[], stop: Stop): Promise<number> {
  const { found, words } = readCommandLine(command, args, called);
  if (found.help === true) {
    process.stdout.write(`${helpOf(command, called)}\n`);
    return exit.done;
  }
  const text = (option: string) => (typeof found[option] === 'string' ? found[option] : undefined);
  const isJson = found.json === true;
  const screen = !isJson && isLive(process.stdout) ? screenOn(process.stdout) : undefined;
  let isDrawn = false;
  const call: Call = {
    words,
    text,
    is: (option) => found[option] === true,
    namespace: text('namespace'),
    cluster: () => clusterAt({ kubeconfig: text('kubeconfig'), context: text('context') }),
    nowMs: Date.now(),
    look: lookOf(process.stdout),
    redraw:
      screen &&
      ((line) => {
        isDrawn = true;
        // A line that the terminal wraps cannot be drawn over.
        screen.draw([lineOf([line], lookOf(process.stdout))]);
      }),
    say: (line) => {
      if (!isJson) process.stdout.write(`${line}\n`);
    },
    stop: stop.signal,
  };
  try {
    const { lines, json, code } = await command.run(call);
    if (isDrawn) screen?.draw([]);
    process.stdout.write(
      isJson ? `${JSON.stringify(json, undefined, 2)}\n` : lines.map((line) => `${line}\n`).join(''),
    );
    return code;
  } finally {
    screen?.close();
  }
}

/** The client library for Kubernetes takes longer to load than everything else, and help does not need it. */
async function clusterAt(where: Where): Promise<Cluster> {
  const [{ kubeconfigOf }, { clusterOf }] = await Promise.all([
    import('./install/kubeconfig.ts'),
    import('./install/connect.ts'),
  ]);
  return clusterOf(kubeconfigOf(where), { say: () => undefined, timeoutMs: 0 });
}

function unknown(name: string): UsageError {
  const names = commands.map((command) => command.name);
  const meant = nearestOf(name, names);
  return new UsageError(
    `expected a command (${names.join(', ')}), found ${JSON.stringify(name)}${meant ? `; was ${meant} meant?` : ''}`,
  );
}

/** One line with what to do; only an internal error keeps its stack. */
function describeError(error: unknown, isNarrowed: boolean): string {
  if ([UsageError, NotFound, Refused, Unreachable, InstallError].some((kind) => error instanceof kind))
    return (error as Error).message;
  const trouble = describeTrouble(error);
  if (!trouble) return error instanceof Error ? (error.stack ?? error.message) : String(error);
  if (hasStatus(error, 403))
    return `${trouble}; get that permission${isNarrowed ? ', or name a namespace you may read with -n' : ''}`;
  if (hasStatus(error, 401)) return `${trouble}; log in again, or choose another --context`;
  return trouble;
}
