import { readFile, writeFile } from 'node:fs/promises';
import { type Deviation, deviations } from './deviations.ts';

const file = new URL('README.md', import.meta.url);
const begin = '<!-- deviations: written by deviations-readme.ts -->';
const end = '<!-- end of deviations -->';

/** The text with the list of deviations between its markers; throws where they are missing. */
export function withDeviations(text: string, list: readonly Deviation[] = deviations): string {
  const [before, after] = [text.indexOf(begin), text.indexOf(end)];
  if (before < 0 || after < before)
    throw new Error(`expected ${begin} and then ${end}, found otherwise: put them back`);
  const rows = list.map(({ real, local, reason }) => `| ${real} | ${local} | ${reason} |`);
  const table = ['| Knative Eventing 1.20 | here | why that will do |', '| --- | --- | --- |', ...rows].join('\n');
  return `${text.slice(0, before + begin.length)}\n${table}\n${text.slice(after)}`;
}

if (import.meta.main) {
  const text = await readFile(file, 'utf8');
  const written = withDeviations(text);
  if (!process.argv.includes('--check')) await writeFile(file, written);
  else if (written !== text) {
    process.stderr.write(
      'expected the deviations in deploy/local/eventing/README.md, found others: run deviations-readme.ts\n',
    );
    process.exit(1);
  }
}
