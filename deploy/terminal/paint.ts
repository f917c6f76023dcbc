import { styleText } from 'node:util';
import stringWidth from 'string-width';
import { controls } from '../../shared/sentence.ts';

/** How wide lines may be, and whether they may have colours. */
export interface Look {
  columns: number;
  colour: boolean;
  /** What a user does to see the columns that a table has no room for. */
  wider?: string;
}

type Style = Parameters<typeof styleText>[0];

/** A piece of a line, plain or in a style. */
export type Span = string | { text: string; style: Style };

export const styled = (style: Style, text: string): Span => ({ text, style });

/** What a terminal shows of it: one line, nothing that moves the cursor, wherever the text came from. */
export const textOf = (span: Span) => (typeof span === 'string' ? span : span.text).replace(commanding, ' ');

const commanding = new RegExp(String.raw`\s*${controls}+\s*`, 'gv');

/** How many columns a piece takes. */
export const widthOf = (span: Span) => stringWidth(textOf(span));

/** Puts a line together, cut to the width there is. */
export function lineOf(spans: readonly Span[], { columns, colour }: Look): string {
  let left = columns;
  let line = '';
  for (const span of spans) {
    const text = cutTo(textOf(span), left);
    left -= stringWidth(text);
    line += paint(span, text, colour);
    if (left <= 0) break;
  }
  return line;
}

/** The text in that many columns, an ellipsis in place of what does not fit. */
export function cutTo(text: string, columns: number): string {
  if (stringWidth(text) <= columns) return text;
  let cut = '';
  let left = columns - 1;
  for (const { segment } of characters.segment(text)) {
    left -= stringWidth(segment);
    if (left < 0) break;
    cut += segment;
  }
  return columns < 1 ? '' : `${cut}…`;
}

/** Characters as a terminal shows them, which may be several code points. */
export const characters = new Intl.Segmenter();

const paint = (span: Span, text: string, colour: boolean) =>
  typeof span === 'string' || !colour || text === ''
    ? text
    : // Whether there are colours was decided by whoever asked, not by what stdout is.
      styleText(span.style, text, { validateStream: false });
