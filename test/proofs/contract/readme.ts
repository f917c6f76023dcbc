import { readFile, writeFile } from 'node:fs/promises';
import { groups } from './cases.ts';
import { type Deviation, deviations, kubectlDeviations } from './deviations.ts';
import { stories } from './kubectl-story.ts';

const page = new URL('../../../deploy/local/README.md', import.meta.url);
const between = /(<!-- deviations -->\n)[\s\S]*?(<!-- \/deviations -->)/;

/** The text with what the contract compares, and all listed deviations, between its markers; throws where those are missing. */
export function withDeviations(text: string): string {
  if (!between.test(text)) {
    throw new Error('deploy/local/README.md: expected the markers <!-- deviations --> and <!-- /deviations -->');
  }
  return text.replace(between, (_, start: string, end: string) => `${start}${summary()}\n\n${table()}\n${end}`);
}

/** True where the page shows the deviations as they are listed; with `write` it is made to. */
export async function isCurrent(write: boolean, file: URL = page): Promise<boolean> {
  const found = await readFile(file, 'utf8');
  const wanted = withDeviations(found);
  if (found !== wanted && write) await writeFile(file, wanted);
  return found === wanted;
}

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

if (import.meta.main) {
  const isCheck = process.argv.includes('--check');
  if (!(await isCurrent(!isCheck))) {
    console.log(
      isCheck ? 'deploy/local/README.md lists other deviations: run npm run generate' : 'wrote deploy/local/README.md',
    );
    if (isCheck) process.exitCode = 1;
  }
}
