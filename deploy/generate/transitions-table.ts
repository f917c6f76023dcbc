import { transitions } from '../../shared/kinds/pelotech/vm-disk-image.ts';

/** The transitions of an image as a Markdown table, for functions/README.md. */
export const transitionsTable = () =>
  [
    '| from | to | writer | when |',
    '| --- | --- | --- | --- |',
    ...transitions.map(({ from, to, by, when }) => `| ${from || '(none)'} | ${to} | \`${by}\` | ${when} |`),
  ].join('\n');
