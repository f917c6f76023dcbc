import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject } from './objects.ts';
import { PatchError } from './patch-error.ts';

/** Field that names an element in each list that strategic merge patch merges (the `patchMergeKey` tags of k8s.io/api). */
const MERGE_KEYS: Record<string, string> = {
  addresses: 'type',
  conditions: 'type',
  containers: 'name',
  drivers: 'name',
  env: 'name',
  ephemeralContainers: 'name',
  hostAliases: 'ip',
  hostIPs: 'ip',
  imagePullSecrets: 'name',
  initContainers: 'name',
  matchConditions: 'name',
  ownerReferences: 'uid',
  podIPs: 'ip',
  resourceClaims: 'name',
  schedulingGates: 'name',
  secrets: 'name',
  topologySpreadConstraints: 'topologyKey',
  variables: 'name',
  volumeDevices: 'devicePath',
  volumeMounts: 'mountPath',
  volumes: 'name',
  webhooks: 'name',
};

/** Lists of scalars that are merged as sets; other lists without a merge key are replaced. */
const PRIMITIVE_SETS = new Set(['finalizers', 'podCIDRs']);

const ORDER = '$setElementOrder/';
const REMOVAL = '$deleteFromPrimitiveList/';

/** Merges a strategic patch into `original`; both are consumed. Throws a PatchError for a directive that makes no sense. */
export function mergeMaps(original: JsonObject, patch: JsonObject): JsonObject {
  if ('$patch' in patch) return replaceWhole(patch);
  retainKeys(original, patch);
  for (const name of Object.keys(patch).filter((key) => key.startsWith(ORDER))) {
    mergeOrdered(original, patch, name.slice(ORDER.length), patch[name]);
  }
  for (const [name, value] of Object.entries(patch)) mergeField(original, name, value);
  return original;
}

function replaceWhole({ $patch, ...rest }: JsonObject): JsonObject {
  if ($patch === 'replace') return rest;
  if ($patch === 'delete') return {};
  throw new PatchError(`unknown patch type: ${String($patch)}, expected replace or delete`);
}

function retainKeys(original: JsonObject, patch: JsonObject) {
  if (!('$retainKeys' in patch)) return;
  const retained = patch.$retainKeys;
  delete patch.$retainKeys;
  const unlisted = (name: string) => !Array.isArray(retained) || !retained.includes(name);
  for (const [name, value] of Object.entries(patch)) {
    if (value !== null && !name.startsWith('$') && unlisted(name)) {
      throw new PatchError(`invalid patch format of retainKeys: ${name} is in the patch but not in the list`);
    }
  }
  for (const name of Object.keys(original).filter(unlisted)) delete original[name];
}

function mergeOrdered(original: JsonObject, patch: JsonObject, name: string, order: unknown) {
  delete patch[`${ORDER}${name}`];
  const before = original[name];
  const change = patch[name];
  if (!Array.isArray(order) || !isListOrAbsent(before) || !isListOrAbsent(change)) {
    throw new PatchError(`invalid patch format of setElementOrder list: ${name} and its order must be lists`);
  }
  delete patch[name];
  const key = mergeKeyOf(name, [...order, ...(before ?? []), ...(change ?? [])]);
  if (change?.some((item) => !isDirective(item) && !order.some((other) => isSame(item, other, key)))) {
    throw new PatchError(`the order in patch list ${name} does not match its setElementOrder list`);
  }
  if (!before && !change) return;
  const merged = change && before ? mergeLists(before, change, name) : (before ?? itemsWithoutDirectives(change ?? []));
  original[name] = orderLike(merged, order, before ?? [], key);
}

function mergeField(original: JsonObject, name: string, value: unknown) {
  if (name.startsWith(REMOVAL)) return removeFromList(original, name.slice(REMOVAL.length), value);
  const before = original[name];
  if (value === null) delete original[name];
  else if (isJsonObject(before) && isJsonObject(value)) original[name] = mergeMaps(before, value);
  else if (Array.isArray(before) && Array.isArray(value)) original[name] = mergeLists(before, value, name);
  else if (isDirective(value)) delete original[name];
  else original[name] = withoutDirectives(value);
}

function removeFromList(original: JsonObject, name: string, removed: unknown) {
  const before = original[name];
  if (!Array.isArray(removed)) throw new PatchError(`${REMOVAL}${name} must be a list`);
  if (Array.isArray(before)) original[name] = before.filter((item) => !removed.includes(item));
}

function mergeLists(original: unknown[], patch: unknown[], name: string): unknown[] {
  const key = mergeKeyOf(name, [...original, ...patch]);
  if (key === undefined && PRIMITIVE_SETS.has(name)) {
    return orderLike([...new Set([...original, ...patch])], patch, original, undefined);
  }
  if (key === undefined) return itemsWithoutDirectives(patch);
  const items = patch.map((item) => requireKey(item, key, name));
  const plain = items.filter((item) => !('$patch' in item));
  if (items.some((item) => item.$patch === 'replace')) return itemsWithoutDirectives(plain);
  const gone = items.filter((item) => '$patch' in item);
  const kept = original.filter((item) => !gone.some((deleted) => isSame(item, deleted, key)));
  return orderLike(mergeElements(kept, plain, key), plain, kept, key);
}

function mergeElements(kept: unknown[], patch: JsonObject[], key: string): unknown[] {
  const merged = [...kept];
  for (const item of patch) {
    const index = merged.findIndex((other) => isSame(item, other, key));
    const before = merged[index];
    if (isJsonObject(before)) merged[index] = mergeMaps(before, item);
    else merged.push(withoutDirectives(item));
  }
  return merged;
}

function requireKey(item: unknown, key: string, name: string): JsonObject {
  if (!isJsonObject(item)) throw new PatchError(`an element of ${name} is ${JSON.stringify(item)}, expected an object`);
  if (item.$patch === 'replace') return item;
  if ('$patch' in item && item.$patch !== 'delete') replaceWhole(item);
  if (item[key] === undefined) {
    throw new PatchError(`map: ${JSON.stringify(item)} does not contain declared merge key: ${key}`);
  }
  return item;
}

/** Elements named by `wanted` come in its order; the others keep their place among those that `before` knows. */
function orderLike(merged: unknown[], wanted: unknown[], before: unknown[], key: string | undefined): unknown[] {
  const indexIn = (list: unknown[], item: unknown) => list.findIndex((other) => isSame(item, other, key));
  const byIndexIn = (list: unknown[]) => (a: unknown, b: unknown) => indexIn(list, a) - indexIn(list, b);
  const named = merged.filter((item) => indexIn(wanted, item) >= 0).sort(byIndexIn(wanted));
  const others = merged.filter((item) => indexIn(wanted, item) < 0).sort(byIndexIn(before));
  const result: unknown[] = [];
  for (const item of named) {
    const place = indexIn(before, item);
    while (others.length > 0 && place >= 0) {
      const otherPlace = indexIn(before, others[0]);
      if (otherPlace < 0 || otherPlace > place) break;
      result.push(others.shift());
    }
    result.push(item);
  }
  return [...result, ...others];
}

function mergeKeyOf(name: string, items: unknown[]): string | undefined {
  // `ports` of a container and of a Service share a name, not a key.
  if (name === 'ports')
    return items.some((item) => isJsonObject(item) && 'containerPort' in item) ? 'containerPort' : 'port';
  return Object.hasOwn(MERGE_KEYS, name) && items.every(isJsonObject) ? MERGE_KEYS[name] : undefined;
}

function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return itemsWithoutDirectives(value);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([name, field]) => !name.startsWith('$') && field !== null);
  return Object.fromEntries(kept.map(([name, field]) => [name, withoutDirectives(field)]));
}

function itemsWithoutDirectives(items: unknown[]): unknown[] {
  return items.filter((item) => !isDirective(item)).map(withoutDirectives);
}

function isSame(a: unknown, b: unknown, key: string | undefined): boolean {
  if (key === undefined) return isDeepStrictEqual(a, b);
  return isJsonObject(a) && isJsonObject(b) && a[key] === b[key];
}

function isDirective(value: unknown): boolean {
  return isJsonObject(value) && '$patch' in value;
}

function isListOrAbsent(value: unknown): value is unknown[] | undefined {
  return value === undefined || Array.isArray(value);
}
