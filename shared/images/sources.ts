import type { VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';

/** A `*` before the first slash of a path stands for part of a host name only: `https://*.example.com/*` is no other host's. */
function globToRegExp(glob: string): RegExp {
  const [authority = ''] = /^[a-z][a-z0-9+.-]*:\/\/[^/]*(?=\/)/i.exec(glob) ?? [];
  const pattern = (text: string, star: string) => text.replace(/[.+^${}()|[\]\\?]/g, '\\$&').replaceAll('*', star);
  return new RegExp(`^${pattern(authority, '[^/?#@]*')}${pattern(glob.slice(authority.length), '.*')}$`);
}

/**
 * Why the policy's allowedSources refuse this image, or undefined. The owner of the url gets the Secret if the
 * source is http or a registry, so these need a match other than "*".
 */
export function refusedBy(allowedSources: readonly string[], spec: VMDiskImage['spec']): string | undefined {
  const url = asFetched(spec.url);
  const matching = allowedSources.filter((glob) => globToRegExp(glob).test(url));
  if (matching.length === 0)
    return `expected a url that the policy's allowedSources allow, found ${withoutQuery(spec.url)}`;
  if (!spec.secretRef || spec.sourceType === 's3' || matching.some((glob) => glob !== '*')) return undefined;
  return `expected allowedSources to name ${withoutQuery(spec.url)} more closely than "*", because the Secret ${spec.secretRef} would be sent to its owner`;
}

/** True where one of the globs takes this address. */
export const allowedBy = (globs: readonly string[], url: string) =>
  globs.some((glob) => globToRegExp(glob).test(asFetched(url)));

/** The URL as a client resolves it: `https://h/images/../private` asks for `https://h/private`. */
const asFetched = (url: string) => (URL.canParse(url) ? new URL(url).href : url);

/** A URL as it may be told: what stands behind the "?" can be a signature. */
export const withoutQuery = (url: string) => url.replace(/[?#].*$/s, '');
