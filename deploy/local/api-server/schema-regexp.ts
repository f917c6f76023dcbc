const POSIX_CLASSES: Record<string, string> = {
  alnum: 'A-Za-z0-9',
  alpha: 'A-Za-z',
  digit: '0-9',
  lower: 'a-z',
  punct: '!-\\/:-@\\[-`{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: 'A-Za-z0-9_',
  xdigit: 'A-Fa-f0-9',
};

const ANCHORS: Record<string, string> = { '\\A': '(?<![\\s\\S])', '\\z': '(?![\\s\\S])' };

/** Compiles an expression in Go's RE2 syntax, which schemas and rules are written in; throws a SyntaxError for what neither Go nor JavaScript reads. */
export function goRegExp(source: string): RegExp {
  const [, flags = '', body = source] = /^\(\?([ims]+)\)(.*)$/s.exec(source) ?? [];
  const translated = body
    .replaceAll('(?P<', '(?<')
    .replaceAll(/\[:(\w+):\]/g, (whole, name: string) => POSIX_CLASSES[name] ?? whole)
    .replaceAll(/\\[\s\S]/g, (escaped) => ANCHORS[escaped] ?? escaped);
  try {
    return new RegExp(translated, `u${flags}`);
  } catch {
    // Go lets any punctuation be escaped, JavaScript only without the flag u.
    return new RegExp(translated, flags);
  }
}
