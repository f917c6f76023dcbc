import type { Environment } from '@marcbachmann/cel-js';
import { goRegExp } from './schema-regexp.ts';

/** Adds the string functions of cel-go's strings extension and Kubernetes' regex library that the engine lacks. */
export function addStrings(environment: Environment): void {
  environment
    .registerFunction('string.charAt(int): string', charAt)
    .registerFunction('string.replace(string, string): string', (text: string, from: string, to: string) =>
      text.replaceAll(from, () => to),
    )
    .registerFunction('string.replace(string, string, int): string', replaceSome)
    .registerFunction('string.format(list): string', format)
    .registerFunction(
      'string.find(string): string',
      (text: string, pattern: string) => text.match(goRegExp(pattern))?.[0] ?? '',
    )
    .registerFunction('string.findAll(string): list<string>', (text: string, pattern: string) => findAll(text, pattern))
    .registerFunction('string.findAll(string, int): list<string>', (text: string, pattern: string, limit: bigint) =>
      limit < 0n ? findAll(text, pattern) : findAll(text, pattern).slice(0, Number(limit)),
    )
    .registerFunction('matches(string, string): bool', (text: string, pattern: string) => goRegExp(pattern).test(text))
    .registerFunction('string.matchesInGo(string): bool', (text: string, pattern: string) =>
      goRegExp(pattern).test(text),
    )
    .registerFunction('string(google.protobuf.Timestamp): string', timestampText)
    .registerFunction('string(google.protobuf.Duration): string', (duration: object) => String(duration))
    .registerType('StringsLibrary', { ctor: StringsLibrary })
    .registerConstant('strings', 'StringsLibrary', new StringsLibrary())
    .registerFunction('StringsLibrary.quote(string): string', (_strings: unknown, text: string) =>
      JSON.stringify(text),
    );
}

class StringsLibrary {}

function charAt(text: string, index: bigint): string {
  const characters = [...text];
  if (index < 0n || index > BigInt(characters.length)) throw new RangeError(`index out of range: ${index}`);
  return characters[Number(index)] ?? '';
}

function replaceSome(text: string, from: string, to: string, limit: bigint): string {
  if (limit < 0n) return text.replaceAll(from, () => to);
  const parts = text.split(from);
  const replaced = Math.min(Number(limit), parts.length - 1);
  return [parts.slice(0, replaced + 1).join(to), ...parts.slice(replaced + 1)].join(from);
}

function findAll(text: string, pattern: string): string[] {
  const expression = goRegExp(pattern);
  return text.match(new RegExp(expression.source, `g${expression.flags}`)) ?? [];
}

const timestampText = (time: Date) => time.toISOString().replace(/\.?0*Z$/, 'Z');

/** `"%s of %d".format([a, b])`, with the verbs of cel-go. */
function format(template: string, values: Iterable<unknown>): string {
  const args = [...values];
  let next = 0;
  const text = template.replaceAll(
    /%(?:%|(?:\.(\d+))?([a-zA-Z]))/g,
    (whole, precision: string | undefined, verb: string) => {
      if (whole === '%%') return '%';
      if (next >= args.length) throw new RangeError(`index ${next} out of range`);
      return formatOne(verb, args[next++], precision === undefined ? undefined : Number(precision));
    },
  );
  return text;
}

function formatOne(verb: string, value: unknown, precision: number | undefined): string {
  if (verb === 's') return formatAny(value);
  if (verb === 'd' && (typeof value === 'bigint' || typeof value === 'number')) return String(value);
  if (verb === 'f') return Number(value).toFixed(precision ?? 6);
  if (verb === 'e')
    return Number(value)
      .toExponential(precision ?? 6)
      .replace(/e([+-])(\d+)$/, scientific);
  if (verb === 'b' && typeof value === 'boolean') return value ? '1' : '0';
  const radix = { b: 2, o: 8, x: 16, X: 16 }[verb];
  if (radix === undefined) {
    throw new TypeError(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
  }
  const isText = typeof value === 'string' || value instanceof Uint8Array;
  const digits = isText ? Buffer.from(value).toString('hex') : BigInt(String(value)).toString(radix);
  return verb === 'X' ? digits.toUpperCase() : digits;
}

const scientific = (_whole: string, sign: string, digits: string) =>
  `×10${sign === '-' ? '⁻' : ''}${digits.padStart(2, '0').replaceAll(/\d/g, (digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)] ?? '')}`;

function formatAny(value: unknown): string {
  if (value instanceof Date) return timestampText(value);
  if (value instanceof Map) return formatEntries([...value]);
  if (Array.isArray(value)) return `[${value.map(formatInside).join(', ')}]`;
  if (typeof value === 'object' && value?.constructor === Object) return formatEntries(Object.entries(value));
  const [, type] = /^Type<(.*)>$/.exec(String(value)) ?? [];
  return typeof value === 'object' && type !== undefined ? type : String(value);
}

const formatInside = (value: unknown) => (typeof value === 'string' ? JSON.stringify(value) : formatAny(value));

function formatEntries(entries: [unknown, unknown][]): string {
  const parts = entries.map(([key, value]) => `${formatInside(key)}:${formatInside(value)}`);
  return `{${parts.sort().join(', ')}}`;
}
