/** Somebody's words as a sentence that another can follow: with one full stop at their end. */
export const sentence = (words: string) => words.replace(/\.?$/, '.');
