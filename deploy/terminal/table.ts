import { cutTo, type Look, lineOf, type Span, styled, textOf, widthOf } from './paint.ts';

export interface Column {
  title: string;
  align?: 'left' | 'right';
}

const gap = '  ';

/** Lines of a table, its titles first; every column is as wide as its widest cell, and the last one takes what is left. */
export function tableLines(columns: readonly Column[], rows: readonly (readonly Span[])[], look: Look): string[] {
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...rows.map((row) => widthOf(row[index] ?? ''))),
  );
  const titles = columns.map(({ title }) => styled('dim', title));
  return [titles, ...rows].map((row) =>
    lineOf(
      columns.flatMap(({ align = 'left' }, index) => {
        const isLast = index === columns.length - 1;
        const cell = padded(row[index] ?? '', isLast && align === 'left' ? 0 : (widths[index] ?? 0), align);
        return index === 0 ? cell : [gap, ...cell];
      }),
      look,
    ).trimEnd(),
  );
}

function padded(span: Span, width: number, align: 'left' | 'right'): Span[] {
  const padding = ' '.repeat(Math.max(0, width - widthOf(span)));
  return align === 'left' ? [span, padding] : [padding, span];
}

/** The text in exactly so many columns. */
export const cell = (span: Span, width: number): Span => {
  const text = cutTo(textOf(span), width).padEnd(width);
  return typeof span === 'string' ? text : { ...span, text };
};
