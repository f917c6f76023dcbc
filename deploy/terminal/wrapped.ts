import stringWidth from 'string-width';
import { characters } from './paint.ts';

/** The text in lines of at most that many columns, broken between words; a word that is wider is broken, too. */
export function wrapped(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && stringWidth(longer) <= columns) lines[lines.length - 1] = longer;
    else lines.push(...piecesOf(word, columns));
  }
  return lines;
}

function piecesOf(word: string, columns: number): string[] {
  if (stringWidth(word) <= columns) return [word];
  const pieces: string[] = [];
  let left = 0;
  for (const { segment } of characters.segment(word)) {
    const width = stringWidth(segment);
    if (pieces.length > 0 && width <= left) pieces[pieces.length - 1] += segment;
    else {
      pieces.push(segment);
      left = columns;
    }
    left -= width;
  }
  return pieces;
}
