/** A pattern for URLs, as the policy's allowedSources and openstackEndpoints have them. */
export interface Pattern {
  /** As it was written. */
  text: string;
  /** Scheme, and host with port; a host that begins with "*." matches all below it. */
  scheme: string;
  host: string;
  /** Characters of the path, `*` for a part of a segment, `**` for anything. */
  path: readonly string[];
}

/** The most characters of a pattern: a match takes at most this many steps for each character of the URL. */
const longest = 512;
const form = /^([a-z][a-z0-9+.-]*):\/\/((?:\*\.)?)([^/?#@*]+)(\/[^?#]*)$/i;

/** Reads "https://*.example.com/images/**"; undefined if scheme or host is missing, or `*` is inside them. */
export function patternOf(text: string): Pattern | undefined {
  const [, scheme = '', below = '', host = '', path = ''] = (text.length <= longest && form.exec(text)) || [];
  const origin = originOf(`${scheme}://${host}/`);
  if (!origin) return undefined;
  return { text, scheme: origin.scheme, host: below + origin.host, path: partsOf(path) };
}

const partsOf = (text: string): readonly string[] => text.match(/\*+|[^*]/gu) ?? [];

/** Whether one of these patterns matches the text: `*` for anything without a separator, `**` for anything at all. */
export const matchesAny = (patterns: readonly string[], text: string, separators: string) =>
  patterns.some((pattern) => matchesParts(partsOf(pattern), text, separators));

/**
 * Whether the pattern matches this URL. An encoded slash matches nothing, because servers differ in what it is. Takes at most
 * (length of the pattern × length of the URL) steps, whatever the two hold.
 */
export function matches(pattern: Pattern, url: string): boolean {
  const origin = originOf(url);
  if (!origin || origin.scheme !== pattern.scheme || /%2f|%5c|\\/i.test(url)) return false;
  const isBelow = pattern.host.startsWith('*.') && origin.host.endsWith(pattern.host.slice(1));
  return (isBelow || origin.host === pattern.host) && matchesParts(pattern.path, origin.path, '/');
}

/** Whether the pattern would match this URL if the URL had its port and scheme. */
export function matchesElsewhere(pattern: Pattern, url: string): boolean {
  const hostname = (host: string) => host.replace(/:\d+$/, '');
  const origin = originOf(url);
  if (!origin || hostname(origin.host) !== hostname(pattern.host)) return false;
  return matches({ ...pattern, scheme: origin.scheme, host: origin.host }, url);
}

/** Follows all places of the pattern at once, so that no choice is ever taken back. */
function matchesParts(pattern: readonly string[], text: string, separators: string): boolean {
  let places = withSkipped(pattern, new Set([0]));
  for (const character of text) {
    const next = new Set<number>();
    for (const place of places) {
      const wanted = pattern[place];
      // The star first: the text may hold one, too.
      if (wanted?.startsWith('**') || (wanted === '*' && !separators.includes(character))) next.add(place);
      else if (wanted === character) next.add(place + 1);
    }
    if (next.size === 0) return false;
    places = withSkipped(pattern, next);
  }
  return places.has(pattern.length);
}

/** A star may match nothing. */
function withSkipped(pattern: readonly string[], places: Set<number>): Set<number> {
  // A Set goes on through what is added to it meanwhile.
  for (const place of places) if (pattern[place]?.startsWith('*')) places.add(place + 1);
  return places;
}

/** The parts of a URL as a client resolves them, without query; undefined where there is no host. */
function originOf(url: string) {
  if (!URL.canParse(url)) return undefined;
  const { protocol, host, pathname } = new URL(url);
  return host === '' ? undefined : { scheme: protocol.slice(0, -1), host: host.toLowerCase(), path: pathname };
}
