import { type Look, lineOf, type Span, styled } from '../../terminal/paint.ts';
import { formatSeconds } from '../../terminal/quantities.ts';
import { tableLines } from '../../terminal/table.ts';
import { wrapped } from '../../terminal/wrapped.ts';

/** A part of a display or of a report: its lines in the width that there is. */
export type Block = (look: Look) => string[];

export const linesOf = (blocks: readonly Block[], look: Look): string[] => blocks.flatMap((block) => block(look));

export const blank: Block = () => [''];

/** One line, cut to the width. */
export const line =
  (...spans: Span[]): Block =>
  (look) => [lineOf(spans, look)];

/** The first line of a display: how long it has taken, and how things stand. */
export const headline = (elapsedMs: number, ...spans: Span[]): Block =>
  line(styled('bold', formatSeconds(elapsedMs)), '  ', ...spans);

/** As many lines as the text takes. */
export const text =
  (what: string): Block =>
  ({ columns }) =>
    wrapped(what, columns);

type ColumnOf<T> = readonly [title: string, cell: (item: T) => Span, align?: 'right'];

export const table =
  <T>(items: readonly T[], columns: readonly ColumnOf<T>[]): Block =>
  (look) =>
    tableLines(
      columns.map(([title, , align]) => ({ title, ...(align && { align }) })),
      items.map((item) => columns.map(([, cell]) => cell(item))),
      look,
    );

/** "3 ready, 1 failed": how many of the items are in each group of phases, empty groups left out. */
export const countsOf = (
  items: readonly { phase: string | undefined }[],
  groups: Readonly<Record<string, readonly string[]>>,
): string =>
  Object.entries(groups)
    .map(([word, phases]) => [items.filter(({ phase = '' }) => phases.includes(phase)).length, word] as const)
    .filter(([count]) => count > 0)
    .map((counted) => counted.join(' '))
    .join(', ');

export const saidSeconds = (seconds: number) => `${seconds.toFixed(1)}s`;
