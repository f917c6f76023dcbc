import { type Look, lineOf, type Span, styled } from '../terminal/paint.ts';
import { phaseSpan } from '../terminal/phase-style.ts';
import { sayBytes } from '../terminal/quantities.ts';
import { tableLines } from '../terminal/table.ts';
import type { DemoResult, ImageResult } from './result.ts';

/** The lines that the demo ends with: what became of each image, the totals, what was not as expected, what to try next. */
export function report(result: DemoResult, look: Look): string[] {
  const { columns } = look;
  const wide = { ...look, columns: Number.POSITIVE_INFINITY };
  return [
    '',
    ...tableLines(titles, result.images.map(row), look),
    ...result.images
      .filter(({ phase }) => phase === 'Failed')
      .flatMap(({ name, reason, message }) => ['', ...wrapped(`${name} failed as ${reason}: ${message}`, columns)]),
    '',
    ...wrapped(totals(result), columns),
    ...result.faults.map((fault) => lineOf([styled('red', '- '), fault], wide)),
    ...(result.ok
      ? [lineOf(['Try next: ', styled('bold', 'npm start'), ' (the same cluster, for kubectl)'], look)]
      : []),
  ];
}

const titles = [
  { title: 'IMAGE' },
  { title: 'PHASE' },
  { title: 'ATTEMPTS', align: 'right' },
  { title: 'WAITED', align: 'right' },
  { title: 'DOWNLOADED', align: 'right' },
  { title: 'NEEDED', align: 'right' },
  { title: 'RATIO', align: 'right' },
] as const;

const row = (image: ImageResult): Span[] => [
  image.name,
  phaseSpan(image.phase),
  String(image.attempts),
  `${image.waitedSeconds.toFixed(1)}s`,
  sayBytes(image.bytesDownloaded),
  image.bytesNeeded > 0 ? sayBytes(image.bytesNeeded) : '-',
  image.ratio === null ? '-' : image.ratio.toFixed(2),
];

function totals({ ok, images, most, bytesDownloaded, bytesNeeded, seconds }: DemoResult): string {
  const count = (phase: string) => images.filter((image) => image.phase === phase).length;
  const outcome = ok ? 'All as expected' : 'Not as expected';
  return `${outcome} in ${seconds.toFixed(1)}s: ${[
    `${count('Succeeded')} succeeded`,
    `${count('Failed')} failed`,
    `${most.syncing} at once`,
    `${sayBytes(bytesDownloaded)} for ${sayBytes(bytesNeeded)}`,
  ].join(', ')}.`;
}

/** The text in lines of at most so many columns, broken between words. */
function wrapped(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
