import { transitions } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { markdownTable } from './markdown-table.ts';

/** The transitions of an image, for functions/README.md. */
export const transitionsTable = () =>
  markdownTable(
    ['from', 'to', 'writer', 'when'],
    transitions.map(({ from, to, by, when }) => [from || '(none)', to, `\`${by}\``, when]),
  );
