import type { WriteStream } from 'node:tty';
import { optionsOf, UsageError } from '../terminal/arguments.ts';
import { logAbove } from '../terminal/log-above.ts';
import { endWithReader, isLive, lookOf } from '../terminal/output.ts';
import { type Look, lineOf, type Span, styled } from '../terminal/paint.ts';
import { formatSeconds } from '../terminal/quantities.ts';
import { screenOn } from '../terminal/screen.ts';
import { stopSignals } from '../terminal/stop-signals.ts';
import { type Block, linesOf } from './demo/blocks.ts';
import { openStackReport } from './demo/openstack-report.ts';
import { report } from './demo/report.ts';
import { type DemoOptions, runDemo, runOpenStackDemo } from './demo/run.ts';
import type { StepReport } from './demo/watcher.ts';

const help = `npm run demo [-- options]

Brings up the local cluster and an object store in this process, applies ten disk images, and shows how they are
downloaded: two at once, in turn, again after a broken connection, never again after a 404. Then applies machines:
two before their image is there, one whose template contradicts its image, two whose image is deleted under them.
Then a whole lab, a Workspace: it gets Ready part by part, a part that is deleted comes back, and with the Workspace all
of it goes. Looks whether all of that was so. Takes 20 to 70 seconds, needs no network,
leaves nothing behind.

With --openstack: a machine on a simulated OpenStack instead, from its image to Running, enlarged, its server deleted behind
everybody's back, and taken away. Takes about 15 seconds.

Options
  --openstack  machines on OpenStack instead of disk images and labs
  --json   print the result as one JSON document (progress goes to stderr)
  --help   print this

Exit code: 0 if all went as expected, 1 if not (each reason on a line), 2 for a wrong option, 130 after Ctrl-C.

Examples
  npm run demo
  npm run demo -- --openstack
  npm run demo | tee demo.log          lines instead of the live display
  npm run --silent demo -- --json | jq -c '.images[] | [.name, .phase, .ratio]'
  npm run --silent demo -- --json | jq -c '.machines.machines[] | [.name, .image, .readyAfterSeconds]'
  npm run --silent demo -- --json | jq -c '.workspace.parts[] | [.kind, .name, .readyAfterSeconds]'
  NO_COLOR=1 npm run demo
`;

/** How often the live display is drawn. */
const frameMs = 100;

async function main(): Promise<number> {
  const stop = stopSignals();
  try {
    const options = optionsOf('npm run demo --', process.argv.slice(2), {
      json: { type: 'boolean' },
      openstack: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    });
    if (options.help) {
      process.stdout.write(help);
      return 0;
    }
    const isJson = options.json === true;
    const out = isJson ? process.stderr : process.stdout;
    const show = shown(stop.signal, isJson);
    endWithReader(process.stdout);
    if (options.openstack) return await show(runOpenStackDemo, openStackReport, openStackProgress(out));
    return await show(runDemo, report, isLive(out) ? liveProgress(out) : lineProgress(out, plain, stepSpans));
  } catch (error) {
    if (stop.exitCode() > 0) {
      process.stderr.write('demo: stopped; all that was brought up is taken down\n');
      return stop.exitCode();
    }
    process.stderr.write(`demo: ${error instanceof Error ? error.message.replaceAll('\n', ' ') : String(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

/** Runs a demo and prints what came of it; resolves with the exit code. */
const shown =
  (signal: AbortSignal, isJson: boolean) =>
  async <Result extends { ok: boolean }>(
    run: (options: DemoOptions) => Promise<Result>,
    reportOf: (result: Result) => Block[],
    progress: Progress,
  ): Promise<number> => {
    const result = await run({ signal, ...progress }).finally(progress.close);
    const lines = isJson ? [JSON.stringify(result, undefined, 2)] : linesOf(reportOf(result), progress.look);
    process.stdout.write(`${lines.join('\n')}\n`);
    return result.ok ? 0 : 1;
  };

interface Progress extends Pick<DemoOptions, 'onReady' | 'onStep' | 'onCommand'> {
  /** How the report looks that comes after it. */
  look: Look;
  close(): void;
}

function liveProgress(out: WriteStream): Progress {
  const screen = screenOn(out);
  const logAsUsual = logAbove(screen);
  screen.draw(['Bringing up the local cluster ...']);
  let timer: NodeJS.Timeout | undefined;
  return {
    look: lookOf(process.stdout),
    onReady: (lines) => {
      clearInterval(timer);
      timer = setInterval(() => screen.draw(lines(lookOf(out))), frameMs);
    },
    onStep: () => {},
    onCommand: (command, elapsedMs) => screen.say(lineOf(commandSpans(command, elapsedMs), lookOf(out))),
    close: () => {
      clearInterval(timer);
      // The report says it all again.
      screen.draw([]);
      screen.close();
      logAsUsual();
    },
  };
}

const plain: Look = { columns: Number.POSITIVE_INFINITY, colour: false };

function lineProgress(out: WriteStream, look: Look, spansOf: (step: StepReport) => Span[]): Progress {
  const write = (spans: Span[], lineLook: Look) => void out.write(`${lineOf(spans, lineLook)}\n`);
  return {
    look: lookOf(process.stdout),
    onReady: () => {},
    onStep: (step, elapsedMs) => write([styled('dim', `${timeOf(elapsedMs)}  `), ...spansOf(step)], look),
    // A command is to be copied whole.
    onCommand: (command, elapsedMs) =>
      write(commandSpans(command, elapsedMs), { ...look, columns: Number.POSITIVE_INFINITY }),
    close: () => {},
  };
}

const stepSpans = ({ name, phase, remark }: StepReport): Span[] => [
  `${name.padEnd(16)} ${(phase || 'New').padEnd(12)}  ${remark}`.trimEnd(),
];

/** Always line by line: a machine takes some ten steps in all. */
function openStackProgress(out: WriteStream): Progress {
  const look = isLive(out) ? lookOf(out) : plain;
  out.write('Bringing up the local cluster and a simulated OpenStack ...\n');
  return {
    ...lineProgress(out, look, ({ kind, name, phase, remark }) => [
      `${kind.padEnd(15)} ${name.padEnd(10)} `,
      styled('bold', phase.padEnd(12)),
      styled('dim', remark),
    ]),
    look,
  };
}

const timeOf = (elapsedMs: number) => `+${formatSeconds(elapsedMs)}`.padStart(7);

const commandSpans = (command: string, elapsedMs: number): Span[] => [
  styled('dim', `${timeOf(elapsedMs)}  `),
  styled('bold', `$ ${command}`),
];

process.exit(await main());
