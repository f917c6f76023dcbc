/**
 * Whether a value is what a pattern of the configuration asks for: `*` stands for anything but `/` and `:`, so that it
 * never reaches into the next part of a name, `**` for anything at all.
 */
export const matches = (pattern: string, value: string): boolean => toRegExp(pattern).test(value);

/** Whether one of the patterns fits. */
export const matchesAny = (patterns: readonly string[], value: string): boolean =>
  patterns.some((pattern) => matches(pattern, value));

const toRegExp = (pattern: string) =>
  new RegExp(
    `^${pattern
      .split(/(\*+)/)
      .map((part) => (part === '*' ? '[^/:]*' : part.startsWith('**') ? '[^]*' : literal(part)))
      .join('')}$`,
  );

const literal = (text: string) => text.replace(/[.+^${}()|[\]\\?/-]/g, '\\$&');
