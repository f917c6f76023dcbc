import { copyOf, isJsonObject, type JsonObject } from './objects.ts';

/** Sets, in place, the defaults that `target` omits; descends only into existing objects. */
export function fillIn(target: JsonObject, defaults: JsonObject) {
  for (const [field, value] of Object.entries(defaults)) {
    const given = target[field];
    if (given === undefined) target[field] = copyOf(value);
    else if (isJsonObject(given) && isJsonObject(value)) fillIn(given, value);
  }
}
