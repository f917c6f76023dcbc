import { argumentOf, UsageError, wholeNumber } from '../../../deploy/terminal/arguments.ts';
import { endWithReader } from '../../../deploy/terminal/output.ts';
import { stopSignals } from '../../../deploy/terminal/stop-signals.ts';

type Options = Readonly<Record<string, { type: 'string' | 'boolean'; short?: string }>>;

/** The arguments of a command, and how it prints. */
export interface CommandContext {
  minutes: number;
  seed: number;
  /** The command's own options. */
  values: Readonly<Record<string, string | boolean | undefined>>;
  say(line: string): void;
  /** Prints a value, as JSON or in lines. */
  print(value: unknown, lines: readonly string[]): void;
  signal: AbortSignal;
}

/**
 * Runs a command that tries by chance, from a seed, for some minutes: `npm run NAME -- [minutes] [options]`. `work` resolves with
 * whether nothing was broken. The result is the exit code: 0, or 1 if something was, 2 for a wrong option, 130 if it was stopped.
 */
export async function campaignCommand(
  { name, help, options }: { name: string; help: string; options: Options },
  work: (context: CommandContext) => Promise<boolean>,
): Promise<number> {
  endWithReader(process.stdout);
  const { signal, exitCode, off } = stopSignals();
  try {
    const common: Options = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } };
    const all: Options = { seed: { type: 'string' }, ...options, ...common };
    const { values, argument = '5' } = argumentOf(`npm run ${name} --`, process.argv.slice(2), all, 'minutes');
    if (values.help) {
      process.stdout.write(help);
      return 0;
    }
    const isOk = await work({
      minutes: wholeNumber('minutes', argument, 1, 1440),
      seed: wholeNumber('--seed', String(values.seed ?? Date.now() % 1_000_000), 0, 999_999_999),
      values: values as CommandContext['values'],
      say: (line) => process.stderr.write(`${name}: ${line} ...\n`),
      print: (value, lines) =>
        process.stdout.write(values.json ? `${JSON.stringify(value, undefined, 2)}\n` : `${lines.join('\n')}\n`),
      signal,
    });
    return signal.aborted ? exitCode() : isOk ? 0 : 1;
  } catch (error) {
    process.stderr.write(`${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  } finally {
    off();
  }
}
