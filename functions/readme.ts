import { readFile, writeFile } from 'node:fs/promises';
import { transitions } from '../shared/kinds/pelotech/vm-disk-image.ts';

const readme = new URL('README.md', import.meta.url);

/** The text with the table of transitions between its markers brought up to date; throws where the markers are missing. */
export function withTransitions(text: string): string {
  const between = /(<!-- transitions -->\n)[\s\S]*?(<!-- \/transitions -->)/;
  if (!between.test(text))
    throw new Error('functions/README.md: expected the markers <!-- transitions --> and <!-- /transitions -->');
  const rows = transitions.map(({ from, to, by, when }) => `| ${from || '(none)'} | ${to} | \`${by}\` | ${when} |`);
  const table = ['| from | to | writer | when |', '| --- | --- | --- | --- |', ...rows].join('\n');
  return text.replace(between, (_, start: string, end: string) => `${start}${table}\n${end}`);
}

/** True where the README shows the transitions as they are; with `write` it is made to. */
export async function isCurrent(write: boolean): Promise<boolean> {
  const found = await readFile(readme, 'utf8');
  const wanted = withTransitions(found);
  if (found !== wanted && write) await writeFile(readme, wanted);
  return found === wanted;
}

if (import.meta.main) {
  const isCheck = process.argv.includes('--check');
  if (!(await isCurrent(!isCheck))) {
    console.log(
      isCheck ? 'functions/README.md shows other transitions: run npm run generate' : 'wrote functions/README.md',
    );
    if (isCheck) process.exitCode = 1;
  }
}
