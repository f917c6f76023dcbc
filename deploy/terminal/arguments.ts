import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

/** A command line that asks for what there is not; its message is one line. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** The options of a command that takes nothing else; throws a UsageError that says what was expected and found. */
export function optionsOf<T extends ParseArgsOptionsConfig>(command: string, args: readonly string[], options: T) {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw usageError(command, error, optionNames(options));
  }
}

/** The options of a command that may be told one thing more, `what`; throws as `optionsOf` does. */
export function argumentOf<T extends ParseArgsOptionsConfig>(
  command: string,
  args: readonly string[],
  options: T,
  what: string,
) {
  const { values, positionals } = wordsOf(command, args, options, what);
  const [argument, ...others] = positionals;
  if (others.length > 0) throw new UsageError(`expected ${what} and nothing else, found ${others.join(' ')}`);
  return { values, argument };
}

/** The options of a command, and the words beside them, `what`; throws as `optionsOf` does. */
export function wordsOf<T extends ParseArgsOptionsConfig>(
  command: string,
  args: readonly string[],
  options: T,
  what: string,
) {
  try {
    const config = { options, strict: true, allowPositionals: true } as const;
    const { values, positionals } = parseArgs({ ...config, args: args.map(hidden) });
    return {
      values: Object.fromEntries(
        Object.entries(values).map(([name, value]) => [name, Array.isArray(value) ? value.map(shown) : shown(value)]),
      ) as typeof values,
      positionals: positionals.map(shown),
    };
  } catch (error) {
    throw usageError(command, error, [...(what ? [what] : []), ...optionNames(options)]);
  }
}

/** A negative number is a word, of which the command says what it expected; parseArgs would say that there is no such option. */
const hidden = (word: string) => (/^-\d/.test(word) ? `${mark}${word}` : word);
const shown = <T>(word: T) => (typeof word === 'string' && word.startsWith(mark) ? word.slice(mark.length) : word);
const mark = '\0';

/** The number that `text` says, given for `what`. */
export function wholeNumber(what: string, text: string, least: number, most: number): number {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new UsageError(`${what}: expected a whole number from ${least} to ${most}, found ${JSON.stringify(text)}`);
}

const optionNames = (options: ParseArgsOptionsConfig) => Object.keys(options).map((name) => `--${name}`);

function usageError(command: string, error: unknown, expected: readonly string[]): UsageError {
  const found = error instanceof Error ? (error.message.split(/\. |\n/)[0] ?? '') : String(error);
  return new UsageError(`${found.replace(/\.$/, '')}; expected ${expected.join(', ')} (see ${command} --help)`);
}
