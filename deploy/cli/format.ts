import { UsageError } from '../terminal/arguments.ts';
import type { Body, Outcome } from './command.ts';

/** What `-o` takes, as with kubectl. */
export const formats = ['json', 'yaml', 'wide', 'name'] as const;
export type Format = (typeof formats)[number] | 'table';

/** The format of the output; throws a UsageError for one that the command does not have. */
export function formatOf(asked: unknown, isJson: boolean, { watches }: Pick<Body, 'watches'>): Format {
  if (asked === undefined) return isJson ? 'json' : 'table';
  const taken = formats.filter((format) => format !== 'name' || watches);
  const format = taken.find((name) => name === asked);
  if (!format) throw new UsageError(`expected -o ${taken.join(', ')}, found ${asked}`);
  if (isJson && format !== 'json') throw new UsageError(`expected one format, found --json and -o ${format}`);
  return format;
}

/** Whether a script reads it, so nothing may precede it. */
export const isForScripts = (format: Format) => format === 'json' || format === 'yaml' || format === 'name';

/** The result of a command in that format. */
export async function printed({ lines, json, objects = [] }: Outcome, format: Format): Promise<string> {
  if (format === 'json') return `${JSON.stringify(json, undefined, 2)}\n`;
  // What JSON leaves out, YAML leaves out.
  if (format === 'yaml') return (await import('yaml')).stringify(JSON.parse(JSON.stringify(json)));
  return (format === 'name' ? objects.map(({ name }) => name) : lines).map((line) => `${line}\n`).join('');
}
