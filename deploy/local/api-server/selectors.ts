type Labels = Record<string, string> | undefined;

/** Reads a labelSelector of a list or watch (`app=a,tier in (x,y),!old`) into a test of labels; throws an Error on malformed text. */
export function parseLabelSelector(text: string): (labels: Labels) => boolean {
  const requirements = readRequirements(text);
  return (labels) => requirements.every((matches) => matches(labels ?? {}));
}

/** One term of a field selector; `==` is read as `=`. */
interface FieldRequirement {
  field: string;
  operator: '=' | '!=';
  value: string;
}

/** Reads a fieldSelector (`status.phase!=,metadata.name=a`) into its terms, all of which must hold; throws an Error on malformed text. */
export function parseFieldSelector(text: string): FieldRequirement[] {
  return splitUnescaped(text)
    .filter((term) => term !== '')
    .map((term) => {
      const found = /^(.*?)(!=|==|=)(.*)$/s.exec(term);
      if (!found) throw new Error(`invalid selector: '${text}'; can't understand '${term}'`);
      const [, field = '', operator, value = ''] = found;
      return { field, operator: operator === '!=' ? '!=' : '=', value: unescapeValue(value) };
    });
}

function splitUnescaped(text: string): string[] {
  return (text.match(/(?:\\.|\\$|[^\\,])+|,/gs) ?? []).filter((part) => part !== ',');
}

function unescapeValue(value: string): string {
  return value.replaceAll(/\\(.?)|([,=])/gs, (whole, escaped: string | undefined, bare: string | undefined) => {
    if (bare) throw new Error(`invalid field selector: unescaped character in value: ${bare}`);
    if (!escaped || !'\\,='.includes(escaped)) {
      throw new Error(`invalid field selector: invalid escape sequence: ${whole}`);
    }
    return escaped;
  });
}

type Requirement = (labels: Record<string, string>) => boolean;

/** The tokens of a label selector that are left to read. */
interface Tokens {
  next(): string;
  peek(): string;
  fail(expected: string): never;
}

const END = '';
const SYMBOLS = new Set(['(', ')', ',', '!', '=', '==', '!=', '<', '>', END]);

function tokensOf(text: string): Tokens {
  const tokens = text.match(/[(),]|!=|==|[=!<>]|[^\s(),=!<>]+/g) ?? [];
  let position = 0;
  return {
    peek: () => tokens[position] ?? END,
    next: () => tokens[position++] ?? END,
    fail: (expected) => {
      const found = tokens[position - 1];
      throw new Error(`unable to parse requirement: found '${found ?? ''}', expected: ${expected}`);
    },
  };
}

function readRequirements(text: string): Requirement[] {
  const tokens = tokensOf(text);
  const requirements: Requirement[] = [];
  if (tokens.peek() === END) return requirements;
  for (;;) {
    requirements.push(readRequirement(tokens));
    const separator = tokens.next();
    if (separator === END) return requirements;
    if (separator !== ',') throw new Error(`found '${separator}', expected: ',' or 'end of string'`);
    if (tokens.peek() === END) {
      tokens.next();
      tokens.fail("identifier after ','");
    }
  }
}

function readRequirement(tokens: Tokens): Requirement {
  if (tokens.peek() === '!') {
    tokens.next();
    const absent = readKey(tokens);
    return (labels) => labels[absent] === undefined;
  }
  const key = readKey(tokens);
  if (tokens.peek() === END || tokens.peek() === ',') return (labels) => labels[key] !== undefined;
  return readComparison(tokens, key);
}

function readComparison(tokens: Tokens, key: string): Requirement {
  const operator = tokens.next();
  if (operator === 'in' || operator === 'notin') {
    const values = readValues(tokens);
    const isIn = (labels: Record<string, string>) => labels[key] !== undefined && values.has(labels[key]);
    return operator === 'in' ? isIn : (labels) => !isIn(labels);
  }
  if (operator === '=' || operator === '==' || operator === '!=') {
    const value = readValue(tokens);
    return operator === '!=' ? (labels) => labels[key] !== value : (labels) => labels[key] === value;
  }
  if (operator === '<' || operator === '>') {
    const bound = readInteger(tokens);
    const sign = operator === '<' ? -1 : 1;
    return (labels) => /^-?\d+$/.test(labels[key] ?? '') && sign * (Number(labels[key]) - bound) > 0;
  }
  return tokens.fail('in, notin, =, ==, !=, gt, lt');
}

const KEY = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

function readKey(tokens: Tokens): string {
  const key = tokens.next();
  if (SYMBOLS.has(key)) tokens.fail('identifier');
  if (!KEY.test(key)) tokens.fail('a label key such as example.com/name');
  return key;
}

function readValue(tokens: Tokens): string {
  if (tokens.peek() === END || tokens.peek() === ',') return '';
  const value = tokens.next();
  if (SYMBOLS.has(value)) tokens.fail('identifier');
  if (!VALUE.test(value)) tokens.fail('a label value (at most 63 of A-Z a-z 0-9 - _ .)');
  return value;
}

function readInteger(tokens: Tokens): number {
  const value = tokens.next();
  if (!/^-?\d+$/.test(value)) tokens.fail('an integer');
  return Number(value);
}

function readValues(tokens: Tokens): Set<string> {
  if (tokens.next() !== '(') tokens.fail("'('");
  const values = new Set<string>();
  for (;;) {
    values.add(tokens.peek() === ')' ? '' : readValue(tokens));
    const separator = tokens.next();
    if (separator === ')') return values;
    if (separator !== ',') tokens.fail("',' or ')'");
  }
}
