import { scenarioNames } from '../replay/scenarios.ts';
import { chanceEvents, chances } from './chance.ts';
import { deviations } from './deviations.ts';

/** The comparisons, the chances and the deviations, for the README. */
export function comparisons(): string {
  const rows = scenarioNames().map((scenario) => `| ${scenario} | ${resultOf(scenario)} |`);
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

function resultOf(scenario: string): string {
  const numbers = deviations.flatMap(({ scenarios }, index) => (scenarios.test(scenario) ? [index + 1] : []));
  return numbers.length === 0 ? 'equal' : `equal but for ${numbers.join(', ')}`;
}
