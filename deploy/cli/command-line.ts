import { UsageError, wordsOf } from '../terminal/arguments.ts';
import type { Command } from './command.ts';
import { commonOptions } from './help.ts';

/** Parses the arguments after the name of a command. Throws a UsageError for a word or an option that the command does not take. */
export function readCommandLine(command: Command, args: readonly string[], called: string) {
  const typed = `${called} ${command.name}`;
  const options = { ...command.options, ...commonOptions };
  const { values, positionals } = wordsOf(typed, args, options, command.words);
  const found = values as Readonly<Record<string, string | boolean | undefined>>;
  if (command.words === '' && positionals.length > 0 && found.help !== true) {
    throw new UsageError(
      `expected nothing but options, found ${positionals.join(' ')}; ${typed} is about the whole cluster: leave that out (see ${typed} --help)`,
    );
  }
  return { found, words: positionals };
}
