import { groups } from './cases.ts';
import { type Deviation, deviations, kubectlDeviations } from './deviations.ts';
import { stories } from './kubectl-story.ts';

/** What the contract compares and all listed deviations, for deploy/local/README.md. */
export const contractDeviations = () => `${summary()}\n\n${table()}`;

function summary(): string {
  const cases = Object.values(groups).flat();
  const requests = cases.reduce((sum, { steps }) => sum + steps.length, 0);
  const commands = stories.reduce((sum, story) => sum + story.commands.length, 0);
  const differ = new Set(deviations.flatMap(({ where }) => Object.keys(where))).size;
  return `Compared are ${cases.length} cases with ${requests} requests, of which ${differ} cases differ as follows, and ${commands} kubectl commands, of which ${kubectlDeviations.length === 0 ? 'none differs' : 'some differ as follows'}.`;
}

const table = () =>
  [
    '| what differs | why that is accepted | where |',
    '| --- | --- | --- |',
    ...[...deviations, ...kubectlDeviations].map(row),
  ].join('\n');

const row = ({ what, reason, where }: Deviation) =>
  `| ${cell(what)} | ${cell(reason)} | ${Object.keys(where).map(cell).join('; ')} |`;

const cell = (text: string) => text.replaceAll('|', '\\|');
