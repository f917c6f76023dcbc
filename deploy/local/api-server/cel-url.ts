import type { Environment } from '@marcbachmann/cel-js';

/** Adds Kubernetes' URL library: `url()`, `isURL()` and the getters of a URL, which read as Go's net/url does. */
export function addURLs(environment: Environment): void {
  environment
    .registerType('kubernetes.URL', { ctor: GoURL })
    .registerFunction('url(string): kubernetes.URL', (text: string) => {
      const url = parseURL(text);
      if (!url)
        throw new Error(
          `URL parse error during conversion from string: parse ${JSON.stringify(text)}: invalid URI for request`,
        );
      return url;
    })
    .registerFunction('isURL(string): bool', (text: string) => parseURL(text) !== undefined)
    .registerFunction('kubernetes.URL.getScheme(): string', (url: GoURL) => url.scheme)
    .registerFunction('kubernetes.URL.getHost(): string', (url: GoURL) => url.host)
    .registerFunction('kubernetes.URL.getHostname(): string', (url: GoURL) => splitHost(url.host).name)
    .registerFunction('kubernetes.URL.getPort(): string', (url: GoURL) => splitHost(url.host).port)
    .registerFunction('kubernetes.URL.getEscapedPath(): string', (url: GoURL) => escapePath(url.path))
    .registerFunction('kubernetes.URL.getQuery(): map<string, list<string>>', (url: GoURL) => queryOf(url.query))
    .registerOperator('kubernetes.URL == kubernetes.URL', (a: GoURL, b: GoURL) => a.text === b.text);
}

class GoURL {
  readonly text: string;
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;
  constructor(text: string, scheme: string, host: string, path: string, query: string) {
    this.text = text;
    this.scheme = scheme;
    this.host = host;
    this.path = path;
    this.query = query;
  }
}

const PARTS = /^(?:([a-z][a-z0-9+.-]*):)?(?:\/\/(?:[^/?#@]*@)?([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#.*)?$/is;
const HOST = /^(?:\[[0-9a-f:.]+\]|[\p{L}\p{N}\-._~!$&'()*+,;=%"<>]*)(?::\d*)?$/iu;

/** Undefined where Go's url.ParseRequestURI fails: what is neither absolute nor a path from the root. */
function parseURL(text: string): GoURL | undefined {
  const [, scheme, host = '', path = '', query = ''] = PARTS.exec(text) ?? [];
  const isAbsolute = scheme !== undefined || text.startsWith('/');
  if (!isAbsolute || !HOST.test(host) || /[\p{Cc}]/u.test(text) || /%(?![0-9a-f]{2})/i.test(path)) return undefined;
  // A path from the root may begin with two slashes without naming a host.
  if (scheme === undefined && text.startsWith('//')) return new GoURL(text, '', '', `//${host}${path}`, query);
  return new GoURL(text, scheme?.toLowerCase() ?? '', host, path, query);
}

function splitHost(host: string): { name: string; port: string } {
  const [, name = '', port = ''] = /^(.*?)(?::(\d*))?$/.exec(host) ?? [];
  return { name: name.replace(/^\[(.*)\]$/, '$1'), port };
}

const escapePath = (path: string) => path.replaceAll(/[^A-Za-z0-9\-._~!$&'()*+,;=:@[\]/%]/gu, encodeURIComponent);

function queryOf(query: string): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(query)) values.set(name, [...(values.get(name) ?? []), value]);
  return values;
}
