import { cutTo, type Look, lineOf, type Span, styled, textOf, widthOf } from './paint.ts';

export interface Column {
  title: string;
  align?: 'left' | 'right';
}

const gap = '  ';

/**
 * Lines of a table, its titles first; every column is as wide as its widest cell, and the last one takes the remaining width. Where the look says
 * how to see more, the last line names the columns that have no room.
 */
export function tableLines(columns: readonly Column[], rows: readonly (readonly Span[])[], look: Look): string[] {
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...rows.map((row) => widthOf(row[index] ?? ''))),
  );
  const titles = columns.map(({ title }) => styled('dim', title));
  const lines = [titles, ...rows].map((row) =>
    lineOf(
      columns.flatMap(({ align = 'left' }, index) => {
        const isLast = index === columns.length - 1;
        const cell = padded(row[index] ?? '', isLast && align === 'left' ? 0 : (widths[index] ?? 0), align);
        return index === 0 ? cell : [gap, ...cell];
      }),
      look,
    ).trimEnd(),
  );
  const missing = withoutRoom(columns, widths, rows, look.columns);
  if (!look.wider || missing.length === 0) return lines;
  return [...lines, `No room in ${look.columns} columns for ${missing.join(', ')}: ${look.wider}`];
}

/** Titles of the columns that show something to someone, but have no room for as much as their title. */
function withoutRoom(
  columns: readonly Column[],
  widths: readonly number[],
  rows: readonly (readonly Span[])[],
  room: number,
): string[] {
  let end = -gap.length;
  return columns.flatMap(({ title, align }, index) => {
    const start = end + gap.length;
    end = start + (widths[index] ?? 0);
    const shown = align === 'right' ? end : start + title.length;
    return shown > room && rows.some((row) => widthOf(row[index] ?? '') > 0) ? [title] : [];
  });
}

function padded(span: Span, width: number, align: 'left' | 'right'): Span[] {
  const padding = ' '.repeat(Math.max(0, width - widthOf(span)));
  return align === 'left' ? [span, padding] : [padding, span];
}

/** The text in exactly that many columns. */
export const cell = (span: Span, width: number): Span => {
  const cut = cutTo(textOf(span), width);
  const text = cut + ' '.repeat(Math.max(0, width - widthOf(cut)));
  return typeof span === 'string' ? text : { ...span, text };
};
