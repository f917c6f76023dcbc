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
    const found = error instanceof Error ? (error.message.split(/\. |\n/)[0] ?? '') : String(error);
    const expected = Object.keys(options).map((name) => `--${name}`);
    throw new UsageError(`${found.replace(/\.$/, '')}; expected ${expected.join(', ')} (${command} --help tells more)`);
  }
}
