import { applyPatch, type Operation } from 'rfc6902';
import { isJsonObject, type JsonObject } from './objects.ts';
import { PatchError } from './patch-error.ts';
import { mergeMaps } from './patch-strategic.ts';

export { PatchError };

/**
 * JSON merge patch (RFC 7386): null removes, objects merge, everything else replaces. Of an object within a list Kubernetes drops
 * what is null, which the RFC keeps. What comes of it shares with `target` what `patch` does not name.
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (Array.isArray(patch)) return patch.map((element) => mergePatch(undefined, element));
  if (!isJsonObject(patch)) return patch;
  const merged: JsonObject = isJsonObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else setField(merged, name, mergePatch(merged[name], value));
  }
  return merged;
}

/** JSON patch (RFC 6902); throws a PatchError naming the operation that is malformed, misses its path or fails its test. */
export function jsonPatch(target: unknown, operations: unknown): unknown {
  if (!Array.isArray(operations)) {
    throw new PatchError(`a JSON patch is an array of operations, not ${JSON.stringify(operations)}`);
  }
  // In an object, because an operation may replace the whole of it.
  const patched = { root: structuredClone(target) };
  for (const operation of operations as Operation[]) {
    const reason = failureOf(patched, operation);
    if (reason !== undefined) {
      throw new PatchError(`JSON patch operation ${JSON.stringify(operation)} does not apply: ${reason}`);
    }
  }
  return patched.root;
}

/** Why one operation does not apply; undefined if it was applied. */
function failureOf(patched: { root: unknown }, operation: Operation): string | undefined {
  try {
    const own = structuredClone(operation);
    own.path = underRoot(own.path);
    if ('from' in own) own.from = underRoot(own.from);
    return applyPatch(patched, [own])[0]?.message.split('\n')[0];
  } catch (error) {
    return error instanceof Error ? error.message.split('\n')[0] : String(error);
  }
}

/** What is no pointer stays as it is and is refused. */
const underRoot = (pointer: string) => (/^(\/|$)/.test(pointer) ? `/root${pointer}` : pointer);

/** Kubernetes' strategic merge patch, for built-in kinds: lists merge by their patchMergeKey, `$patch`, `$setElementOrder`, `$deleteFromPrimitiveList` and `$retainKeys` are obeyed. */
export function strategicMergePatch(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(target) || !isJsonObject(patch))
    throw new PatchError('a strategic merge patch and its target are objects');
  return mergeMaps(structuredClone(target), structuredClone(patch));
}

/** Assignment would change the prototype instead of adding a field named `__proto__`. */
function setField(object: JsonObject, name: string, value: unknown) {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}
