import { copyOf, isJsonObject, type JsonObject } from './objects.ts';

/** Fills in, in place, what `target` leaves out; only objects that are there are descended into. */
export function fillIn(target: JsonObject, defaults: JsonObject) {
  for (const [field, value] of Object.entries(defaults)) {
    const given = target[field];
    if (given === undefined) target[field] = copyOf(value);
    else if (isJsonObject(given) && isJsonObject(value)) fillIn(given, value);
  }
}
