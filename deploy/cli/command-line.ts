import { parseArgs } from 'node:util';
import { UsageError, wordsOf } from '../terminal/arguments.ts';
import type { Call, Command } from './command.ts';
import { namespaceOptions, optionsOf } from './help.ts';

/** Parses the arguments after the name of a command. Throws a UsageError for a word or an option that the command does not take. */
export function readCommandLine(command: Command, args: readonly string[], called: string) {
  const typed = `${called} ${command.name}`;
  const options = optionsOf(command);
  const { values, positionals } = wordsOf(typed, args, options, command.words);
  const found = values as Readonly<Record<string, string | boolean | string[] | undefined>>;
  if (command.words === '' && positionals.length > 0 && found.help !== true) {
    throw new UsageError(
      `expected nothing but options, found ${positionals.join(' ')}; ${typed} is about the whole cluster: leave that out (see ${typed} --help)`,
    );
  }
  return { found, words: positionals };
}

/** What a command asks of its parsed options. */
export const valuesOf = (found: Readonly<Record<string, unknown>>): Pick<Call, 'text' | 'is' | 'texts'> => ({
  text: (option) => (typeof found[option] === 'string' ? found[option] : undefined),
  is: (option) => found[option] === true,
  texts: (option) => [found[option] ?? []].flat().map(String),
});

/** The same command line about another object, which it names whole; every other option stays. */
export function retyped(command: Command, args: readonly string[], name: string): string {
  const { tokens } = parseArgs({ args: [...args], options: optionsOf(command), allowPositionals: true, tokens: true });
  const kept = tokens.flatMap((token) =>
    token.kind !== 'option' || token.name in namespaceOptions ? [] : [token.rawName, token.value ?? []].flat(),
  );
  return ['ot-functions', command.name, name, ...kept].join(' ');
}
