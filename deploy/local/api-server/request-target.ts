import type { Kind, KindRegistry } from './kind.ts';

/** The object or collection that a request's path names. */
export interface ResourceTarget {
  group: string;
  version: string;
  plural: string;
  namespace: string | undefined;
  name: string | undefined;
  subresource: string;
  /** Absent where no such resource is served. */
  kind: Kind | undefined;
}

/** Reads `/api/v1/…` and `/apis/group/version/…`; undefined for a path that names no resource. */
export function resourceTarget(path: string, kinds: KindRegistry): ResourceTarget | undefined {
  const [root, ...rest] = path.split('/').filter(Boolean).map(decoded);
  if (root !== 'api' && root !== 'apis') return undefined;
  const group = root === 'api' ? '' : (rest.shift() ?? '');
  const version = rest.shift() ?? '';
  if (rest.length === 0) return undefined;
  const { namespace, parts } = splitNamespace(rest);
  const [plural = '', name, subresource = '', extra] = parts;
  if (extra !== undefined) return undefined;
  return { group, version, plural, namespace, name, subresource, kind: kinds.find(group, version, plural) };
}

/** `namespaces/x/pods/y` is a pod; `namespaces/x` and its subresources are the namespace itself. */
function splitNamespace(parts: string[]): { namespace: string | undefined; parts: string[] } {
  const [first, namespace, next] = parts;
  const isInside = first === 'namespaces' && next !== undefined && next !== 'status' && next !== 'finalize';
  return isInside ? { namespace, parts: parts.slice(2) } : { namespace: undefined, parts };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
