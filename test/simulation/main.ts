import { parseArgs } from 'node:util';
import { UsageError } from '../../deploy/local/terminal/arguments.ts';
import { endWithReader } from '../../deploy/local/terminal/output.ts';
import { stopSignals } from '../../deploy/local/terminal/stop-signals.ts';
import { campaign } from './campaign.ts';
import { report } from './report.ts';

const help = `npm run test:full [-- [minutes] [options]]

Runs all functions in a simulated cluster, by plans of chance: what users do, what goes wrong, and the order in which
everything happens. Each run is judged by the invariants (test/invariants). First every write of the small journeys is
struck in each way and each of the mistakes in test/simulation/bugs.ts is looked for; then runs follow until the time is
over or one breaks an invariant, which is then made as small as possible and printed.

Options
  minutes     how long, 1 to 1440; 5 by default
  --seed N    begin with the plans of that seed
  --runs      only the runs by chance
  --json      print the result as one JSON document
  --help      print this

Progress goes to stderr. Exit code: 0 if nothing was broken and each mistake was found, 1 if not, 2 for a wrong option,
130 if it was stopped.

Examples
  npm run test:full
  npm run test:full -- 120 --runs
  npm run test:full -- 1 --seed 7
  npm run --silent test:full -- 10 --json | jq '.violations'
`;

async function main(): Promise<number> {
  endWithReader(process.stdout);
  // What functions log of injected faults is no news.
  console.error = () => undefined;
  const { signal, exitCode, off } = stopSignals();
  try {
    const { values, positionals } = parsed(process.argv.slice(2));
    if (values.help) {
      process.stdout.write(help);
      return 0;
    }
    const [minutes = '5', ...others] = positionals;
    if (others.length > 0) throw new UsageError(`expected minutes and nothing else, found ${others.join(' ')}`);
    const result = await campaign({
      minutes: wholeNumber('minutes', minutes, 1, 1440),
      seed: wholeNumber('--seed', values.seed ?? `${Date.now() % 1_000_000}`, 0, 999_999_999),
      onlyRuns: values.runs === true,
      say: (line) => process.stderr.write(`test:full: ${line} ...\n`),
      signal,
    });
    process.stdout.write(values.json ? `${JSON.stringify(result, undefined, 2)}\n` : `${report(result).join('\n')}\n`);
    return signal.aborted ? exitCode() : result.ok ? 0 : 1;
  } catch (error) {
    process.stderr.write(`test:full: ${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  } finally {
    off();
  }
}

function parsed(args: string[]) {
  const options = {
    seed: { type: 'string' },
    runs: { type: 'boolean' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  } as const;
  try {
    return parseArgs({ args, options, strict: true, allowPositionals: true });
  } catch (error) {
    const found = error instanceof Error ? error.message.split('. ')[0] : String(error);
    throw new UsageError(`${found}; expected minutes, --seed, --runs, --json, --help (--help tells more)`);
  }
}

function wholeNumber(what: string, text: string, least: number, most: number): number {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new UsageError(`${what}: expected a whole number from ${least} to ${most}, found ${JSON.stringify(text)}`);
}

process.exitCode = await main();
