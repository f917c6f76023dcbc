import { isJsonObject } from './objects.ts';

type Step = (values: unknown[]) => unknown[];

/**
 * Compiles the JSONPath of a printer column, as kubectl writes it: `.spec.disk-size`, `.metadata.annotations.a\.b/c`,
 * `['a.b']`, `[0]`, `[*]`, `[?(@.type=="Ready")].status`. Throws an Error on anything else.
 */
export function jsonPath(text: string): (object: unknown) => unknown[] {
  const steps: Step[] = [];
  let rest = text
    .trim()
    .replace(/^\{(.*)\}$/s, '$1')
    .replace(/^\$/, '');
  while (rest) {
    const [found, step] = firstStep(rest) ?? [];
    if (!found || !step)
      throw new Error(`JSONPath ${JSON.stringify(text)} is not understood from ${JSON.stringify(rest)} on`);
    steps.push(step);
    rest = rest.slice(found.length);
  }
  return (object) => steps.reduce((values, step) => step(values), [object]);
}

function firstStep(text: string): [string, Step] | undefined {
  for (const [pattern, make] of grammar) {
    const found = pattern.exec(text);
    if (found) return [found[0], make(found)];
  }
  return undefined;
}

const grammar: [RegExp, (found: RegExpExecArray) => Step][] = [
  [/^\.?\[\s*\?\(\s*@(.+?)\s*(==|!=)\s*(?:"([^"]*)"|'([^']*)'|([^)\s]+))\s*\)\s*\]/, filter],
  [/^\.?\[\s*\*\s*\]|^\.\*/, () => children],
  [
    /^\.?\[\s*(-?\d+)\s*\]/,
    ([, index]) =>
      (values) =>
        values.flatMap((value) => elementAt(value, Number(index))),
  ],
  [/^\.?\[\s*(?:'([^']*)'|"([^"]*)")\s*\]/, ([, single, double]) => field(single ?? double ?? '')],
  [/^\.?((?:\\.|[^.[\]\\])+)/, ([, name = '']) => field(name.replaceAll(/\\(.)/g, '$1'))],
];

const field =
  (name: string): Step =>
  (values) =>
    values.flatMap((value) => (isJsonObject(value) && value[name] !== undefined ? [value[name]] : []));

const children: Step = (values) =>
  values.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []));

const elementAt = (value: unknown, index: number): unknown[] => {
  const element = Array.isArray(value) ? (value.at(index) as unknown) : undefined;
  return element === undefined ? [] : [element];
};

function filter([, path = '', operator, double, single, bare]: RegExpExecArray): Step {
  const read = jsonPath(path);
  const wanted = double ?? single ?? bare;
  const keeps = (element: unknown) => (String(read(element)[0]) === wanted) === (operator === '==');
  return (values) => values.flatMap((value) => (Array.isArray(value) ? value.filter(keeps) : []));
}
