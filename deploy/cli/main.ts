import stringWidth from 'string-width';
import project from '../../package.json' with { type: 'json' };
import { hasStatus, NoAnswer } from '../../shared/runtime/errors.ts';
import { UsageError } from '../terminal/arguments.ts';
import { endWithReader, isLive, lookOf } from '../terminal/output.ts';
import { lineOf } from '../terminal/paint.ts';
import { type Screen, screenOn } from '../terminal/screen.ts';
import { type Stop, stopSignals } from '../terminal/stop-signals.ts';
import { wrapped } from '../terminal/wrapped.ts';
import { asTyped, calledAs } from './called.ts';
import {
  type Call,
  type Command,
  exit,
  NotFound,
  type Outcome,
  type Reached,
  Refused,
  Unreachable,
} from './command.ts';
import { readCommandLine, retyped, valuesOf } from './command-line.ts';
import { commandOf, commands } from './commands.ts';
import { completed } from './complete.ts';
import { hiddenCommand } from './completion-script.ts';
import { codeOf } from './exit-code.ts';
import { type Format, formatOf, isForScripts, printed } from './format.ts';
import { helpOf, overview } from './help.ts';
import { InstallError } from './install/cluster.ts';
import type { Where } from './install/kubeconfig.ts';
import { describeTrouble } from './install/trouble.ts';
import { nearestOf } from './nearest.ts';

const called = calledAs(process.env);

const stop = stopSignals();
endWithReader(process.stdout);
process.exitCode = await main(process.argv.slice(2), stop);
stop.off();

async function main(args: readonly string[], stop: Stop): Promise<number> {
  const [name = '', ...rest] = args;
  let command: Command | undefined;
  try {
    command = await commandOf(name);
    if (name === hiddenCommand) return await complete(rest);
    if (name === '--version') {
      process.stdout.write(`ot-functions ${project.version}\n`);
      return exit.done;
    }
    if (command) return await run(command, rest, stop);
    if (name !== '' && !['help', '--help', '-h'].includes(name)) throw unknown(name);
    const asked = await commandOf(rest[0] ?? '');
    process.stdout.write(`${asked ? asTyped(helpOf(asked, called), called) : overview(commands, called)}\n`);
    return name === '' ? exit.usage : exit.done;
  } catch (error) {
    if (stop.signal.aborted) return stop.exitCode();
    const isNarrowed = command !== undefined && 'namespace' in command.options;
    const again =
      command && error instanceof NotFound && error.meant ? `; type: ${retyped(command, rest, error.meant)}` : '';
    process.stderr.write(`${called}: ${asTyped(`${describeError(error, isNarrowed)}${again}`, called)}\n`);
    return codeOf(error);
  }
}

/** Ends at once: a cluster that does not answer is not waited for. */
async function complete(words: readonly string[]): Promise<never> {
  const lines = await completed(words, (found) => ({
    cluster: () => reach(found),
    contexts: async () => {
      const { kubeconfigOf } = await import('./install/kubeconfig.ts');
      return kubeconfigOf(whereOf({ ...found, context: undefined }))
        .getContexts()
        .map(({ name }) => name);
    },
  }));
  return new Promise(() => process.stdout.write(lines.map((line) => `${line}\n`).join(''), () => process.exit()));
}

async function run(command: Command, args: readonly string[], stop: Stop): Promise<number> {
  const { found, words } = readCommandLine(command, args, called);
  if (found.help === true) {
    process.stdout.write(`${asTyped(helpOf(command, called), called)}\n`);
    return exit.done;
  }
  const values = valuesOf(found);
  const namespace = values.text('namespace');
  if (namespace && found['all-namespaces'] === true)
    throw new UsageError('expected --namespace or --all-namespaces, found both');
  const format = formatOf(found.output, found.json === true, command);
  const screen = !isForScripts(format) && isLive(process.stdout) ? screenOn(process.stdout) : undefined;
  let isDrawn = false;
  const call: Call = {
    words,
    ...values,
    namespace,
    cluster: () => reach(found),
    nowMs: Date.now(),
    look: {
      ...lookOf(process.stdout),
      wider: 'add -o wide',
      ...(format === 'wide' ? { columns: Number.POSITIVE_INFINITY } : {}),
    },
    redraw:
      screen &&
      ((line) => {
        isDrawn = true;
        // A line that the terminal wraps cannot be drawn over.
        screen.draw([lineOf([line], lookOf(process.stdout))]);
      }),
    say: (line) => {
      if (!isForScripts(format)) process.stdout.write(`${asTyped(line, called)}\n`);
    },
    stop: stop.signal,
  };
  try {
    if (command.stopsAtOnce) stop.off();
    if (found.watch === true) return await watch(command, call, format, screen);
    const outcome = await command.run(call);
    if (isDrawn) screen?.draw([]);
    process.stdout.write(
      await printed({ ...outcome, lines: outcome.lines.map((line) => asTyped(line, called)) }, format),
    );
    return outcome.code;
  } finally {
    screen?.close();
  }
}

/** Draws the table again with each change, in a pipe a line for each. */
async function watch(command: Command, call: Call, format: Format, screen: Screen | undefined): Promise<never> {
  if (format !== 'table') throw new UsageError(`expected -w without -o, found -o ${format}`);
  const { fitted, changesBetween, whileWatching } = await import('./watch.ts');
  const reached = await call.cluster();
  let before: Outcome['objects'];
  const again = async () => {
    // The terminal may have another width by now.
    const { columns } = lookOf(process.stdout);
    const look = { ...call.look, columns };
    const outcome = await command.run({ ...call, cluster: async () => reached, nowMs: Date.now(), look });
    const lines = outcome.lines.flatMap((line) => {
      const typed = asTyped(line, called);
      return stringWidth(typed) > columns ? wrapped(typed, columns) : [typed];
    });
    if (screen) screen.draw(fitted(lines, process.stdout.rows));
    else for (const line of changesBetween(before, outcome)) call.say(line);
    before = outcome.objects;
  };
  await whileWatching(reached, command.watches?.(reached.namespace) ?? [], again, call.stop);
  throw call.stop.reason;
}

type Found = Readonly<Record<string, unknown>>;

function whereOf(found: Found): Where {
  const { text, texts } = valuesOf(found);
  return {
    kubeconfig: text('kubeconfig'),
    context: text('context'),
    as: text('as'),
    asGroups: texts('as-group'),
  };
}

/** The client library for Kubernetes takes longer to load than everything else, and help does not need it. */
async function reach(found: Found): Promise<Reached> {
  const [{ kubeconfigOf }, { clusterOf }] = await Promise.all([
    import('./install/kubeconfig.ts'),
    import('./install/connect.ts'),
  ]);
  const config = kubeconfigOf(whereOf(found));
  const home = config.getContextObject(config.getCurrentContext())?.namespace || 'default';
  const namespace = found['all-namespaces'] === true ? undefined : (valuesOf(found).text('namespace') ?? home);
  return { ...clusterOf(config, { say: () => undefined, timeoutMs: 0 }), namespace };
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
  if (error instanceof NoAnswer)
    return `${trouble}; is it running? ${called.startsWith('npm') ? 'npm start starts the local one, ' : ''}--context chooses another`;
  if (hasStatus(error, 401)) return `${trouble}; log in again, or choose another --context`;
  return trouble;
}
