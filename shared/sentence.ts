/** A class of a regular expression (flag v): what commands a terminal or is invisible, but for the joiners within emoji and words. */
export const controls = String.raw`[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]--[\u200c\u200d]]`;

const spaces = new RegExp(String.raw`[\s${controls}]+`, 'gv');

/** A text on one line, wherever it came from: kubectl prints no more of a message than its first, and whatever commands a terminal. */
export const oneLine = (text: string) => text.replace(spaces, ' ').trim();

/** A text as a sentence that another can follow: on one line, with one full stop at its end. */
export const sentence = (words: string) => oneLine(words).replace(/\.?$/, '.');
