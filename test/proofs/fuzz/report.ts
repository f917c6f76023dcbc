import { type FuzzResult, sum } from './campaign.ts';

/** The result as text: what was accepted and refused, how deep it went, what broke. */
export function report(result: FuzzResult): string[] {
  const { accepted, refused, refusals, fields, writes, answers, errors, reasons, broken, runs, steps, seconds, seed } =
    result;
  const taken = sum(accepted);
  const share = (100 * taken) / Math.max(1, taken + sum(refused));
  return [
    ...broken.flatMap(({ violations, plan, seed: of, isRepeatable }) => [
      `Broken by a plan of seed ${of}${isRepeatable ? '' : ', not again on a cluster of its own'}:`,
      ...violations.map(({ judge, message }) => `  ${judge}: ${message}`),
      '  again: save the next line as plan.json, and npm run test:fuzz -- --plan plan.json',
      JSON.stringify(plan),
      '',
    ]),
    ...table('accepted', accepted),
    ...table('refused', refused),
    ...table('refused because', refusals),
    ...table('condition Ready', reasons),
    ...table('writes of functions', writes),
    ...table('answers for another try, or against it', answers),
    ...table('errors in logs', errors),
    'fields of spec in accepted objects:',
    ...Object.entries(fields).map(
      ([kind, { seen, all, unseen }]) =>
        `  ${kind}: ${seen} of ${all}${unseen.length > 0 ? `, not ${unseen.join(' ')}` : ''}`,
    ),
    '',
    `longest work without a pause ${result.longestBlockMs.toFixed(1)} ms of CPU; longest decision ${longest(result.longestDecideMs)}`,
    `${runs} runs with ${steps} steps in ${Math.round(seconds)} s, ${Math.round(result.cpuSeconds)} s of CPU, seed ${seed}: ${taken} writes of authors accepted (${share.toFixed(1)}%), ${sum(refused)} refused, ${broken.length} violations`,
  ];
}

const longest = (found: Readonly<Record<string, number>>) => {
  const [name = 'none', took = 0] = Object.entries(found).sort(([, a], [, b]) => b - a)[0] ?? [];
  return `${took.toFixed(1)} ms (${name})`;
};

const table = (title: string, counts: Readonly<Record<string, number>>) =>
  Object.keys(counts).length === 0
    ? []
    : [
        `${title}:`,
        ...Object.entries(counts)
          .sort(([, a], [, b]) => b - a)
          .slice(0, 40)
          .map(([name, count]) => `${`${count}`.padStart(7)}  ${name}`),
        '',
      ];
