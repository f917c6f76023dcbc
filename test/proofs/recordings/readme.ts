import { readFile, writeFile } from 'node:fs/promises';
import { scenarioNames } from '../replay/scenarios.ts';
import { chanceEvents, chances } from './chance.ts';
import { deviations } from './deviations.ts';

const file = new URL('README.md', import.meta.url);
const between = /(<!-- comparisons -->\n)[\s\S]*?(<!-- \/comparisons -->)/;

/** The text with the comparisons, the chances and the deviations between its markers. Throws if the markers are missing. */
export function withComparisons(text: string): string {
  if (!between.test(text))
    throw new Error('test/proofs/recordings/README.md: expected its markers, found none: put them back');
  return text.replace(between, (_, start: string, end: string) => `${start}${sections()}\n${end}`);
}

function sections(): string {
  const rows = scenarioNames().map((scenario) => `| ${scenario} | ${standing(scenario)} |`);
  const deviating = deviations.map(({ what, reason }, index) => `${index + 1}. ${what}: ${reason}.`);
  const chance = [...new Set([...chances, ...chanceEvents].map(({ what }) => what))].filter(
    (what) => what !== 'the same',
  );
  return [
    ['| scenario | compared |', '| --- | --- |', ...rows].join('\n'),
    ['Deviations:', '', ...deviating].join('\n'),
    ['Left to chance, on both sides:', '', ...chance.map((what) => `- ${what}`)].join('\n'),
  ].join('\n\n');
}

function standing(scenario: string): string {
  const numbers = deviations.flatMap(({ scenarios }, index) => (scenarios.test(scenario) ? [index + 1] : []));
  return numbers.length === 0 ? 'equal' : `equal but for ${numbers.join(', ')}`;
}

if (import.meta.main) {
  const text = await readFile(file, 'utf8');
  const written = withComparisons(text);
  if (!process.argv.includes('--check')) await writeFile(file, written);
  else if (written !== text) {
    process.stderr.write('test/proofs/recordings/README.md lists other comparisons: run npm run generate\n');
    process.exitCode = 1;
  }
}
