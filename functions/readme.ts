import { readFile, writeFile } from 'node:fs/promises';
import { transitions } from '../shared/resources/pelotech/vm-disk-image.ts';

const readme = new URL('README.md', import.meta.url);

/** The text with the table of arrows between its markers brought up to date; throws where the markers are missing. */
export function withArrows(text: string): string {
  const between = /(<!-- arrows -->\n)[\s\S]*?(<!-- \/arrows -->)/;
  if (!between.test(text))
    throw new Error('functions/README.md: expected the markers <!-- arrows --> and <!-- /arrows -->');
  const rows = transitions.map(({ from, to, by, when }) => `| ${from || '(none)'} | ${to} | \`${by}\` | ${when} |`);
  const table = ['| from | to | writer | when |', '| --- | --- | --- | --- |', ...rows].join('\n');
  return text.replace(between, (_, start: string, end: string) => `${start}${table}\n${end}`);
}

/** True where the README shows the arrows as they are; with `write` it is made to. */
export async function isCurrent(write: boolean): Promise<boolean> {
  const found = await readFile(readme, 'utf8');
  const wanted = withArrows(found);
  if (found !== wanted && write) await writeFile(readme, wanted);
  return found === wanted;
}

if (import.meta.main) {
  const isCheck = process.argv.includes('--check');
  if (!(await isCurrent(!isCheck))) {
    console.log(isCheck ? 'functions/README.md shows other arrows: run npm run generate' : 'wrote functions/README.md');
    if (isCheck) process.exitCode = 1;
  }
}
