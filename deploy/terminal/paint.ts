import { styleText } from 'node:util';

/** How wide lines may be, and whether they may have colours. */
export interface Look {
  columns: number;
  colour: boolean;
}

type Style = Parameters<typeof styleText>[0];

/** A piece of a line, plain or in a style. */
export type Span = string | { text: string; style: Style };

export const styled = (style: Style, text: string): Span => ({ text, style });

/** What a terminal shows of it: one line, nothing that moves the cursor, wherever the text came from. */
export const textOf = (span: Span) =>
  (typeof span === 'string' ? span : span.text).replace(/\s*[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+\s*/gu, ' ');

/** How many columns a piece takes. */
export const widthOf = (span: Span) => [...textOf(span)].length;

/** Puts a line together, cut to the width there is. */
export function lineOf(spans: readonly Span[], { columns, colour }: Look): string {
  let left = columns;
  let line = '';
  for (const span of spans) {
    const text = cutTo(textOf(span), left);
    left -= [...text].length;
    line += paint(span, text, colour);
    if (left <= 0) break;
  }
  return line;
}

/** The text in so many columns, an ellipsis in place of what does not fit. */
export function cutTo(text: string, columns: number): string {
  const characters = [...text];
  if (characters.length <= columns) return text;
  return columns < 1 ? '' : `${characters.slice(0, columns - 1).join('')}…`;
}

const paint = (span: Span, text: string, colour: boolean) =>
  typeof span === 'string' || !colour || text === ''
    ? text
    : // Whether there are colours was decided by whoever asked, not by what stdout is.
      styleText(span.style, text, { validateStream: false });
