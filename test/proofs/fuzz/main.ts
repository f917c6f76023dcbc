import { readFile } from 'node:fs/promises';
import { argumentOf, UsageError, wholeNumber } from '../../../deploy/terminal/arguments.ts';
import { endWithReader } from '../../../deploy/terminal/output.ts';
import { stopSignals } from '../../../deploy/terminal/stop-signals.ts';
import { fuzz, runAlone } from './campaign.ts';
import type { Plan } from './plan.ts';
import { report } from './report.ts';

const help = `npm run test:fuzz [-- [minutes] [options]]

Writes objects by chance, as an author with the shipped role \`edit\` could, to local clusters with all functions, and judges what the
functions make of them: no crash, no write outside the author's namespaces but those that the policy grants, no work of over
100 ms of CPU without a pause, no Secret told, no YAML that says what nobody wrote. It ends when the time is over or a plan
breaks something, which is then made smaller and printed.

Options
  minutes     how long, 1 to 1440; 5 by default
  --seed N    begin with the plans of that seed
  --plan FILE run only the plan in FILE, as a report printed it
  --json      print the result as one JSON document
  --help      print this

Progress goes to stderr. Exit code: 0 if nothing was broken, 1 if something was, 2 for a wrong option, 130 if it was stopped.

Examples
  npm run test:fuzz
  npm run test:fuzz -- 60 --seed 7
  npm run test:fuzz -- --plan plan.json
  npm run --silent test:fuzz -- 10 --json | jq '.broken'
`;

const options = {
  seed: { type: 'string' },
  plan: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

async function main(): Promise<number> {
  endWithReader(process.stdout);
  const { signal, exitCode, off } = stopSignals();
  const print = (value: unknown, lines: readonly string[], json = false) =>
    process.stdout.write(json ? `${JSON.stringify(value, undefined, 2)}\n` : `${lines.join('\n')}\n`);
  try {
    const { values, argument: minutes = '5' } = argumentOf(
      'npm run test:fuzz --',
      process.argv.slice(2),
      options,
      'minutes',
    );
    if (values.help) {
      process.stdout.write(help);
      return 0;
    }
    const forMinutes = wholeNumber('minutes', minutes, 1, 1440);
    const seed = wholeNumber('--seed', values.seed ?? `${Date.now() % 1_000_000}`, 0, 999_999_999);
    if (values.plan !== undefined) {
      const violations = await runAlone(JSON.parse(await readFile(values.plan, 'utf8')) as Plan);
      const lines = violations.map(({ judge, message }) => `${judge}: ${message}`);
      print(violations, [...lines, `${violations.length} violations`], values.json);
      return violations.length === 0 ? 0 : 1;
    }
    const result = await fuzz({
      untilMs: Date.now() + forMinutes * 60_000,
      seed,
      say: (line) => process.stderr.write(`test:fuzz: ${line} ...\n`),
      signal,
    });
    print(result, report(result), values.json);
    return signal.aborted ? exitCode() : result.ok ? 0 : 1;
  } catch (error) {
    process.stderr.write(`test:fuzz: ${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  } finally {
    off();
  }
}

process.exitCode = await main();
