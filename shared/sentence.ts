/** A text as a sentence that another can follow: with one full stop at its end. */
export const sentence = (words: string) => words.replace(/\.?$/, '.');
