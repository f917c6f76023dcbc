import { type FieldSet, fromFieldsV1, isEmpty, toFieldsV1, union } from './managed-fields-set.ts';
import { isJsonObject } from './objects.ts';

/** Who owns fields: one entry of `metadata.managedFields`. */
export interface Entry {
  manager: string;
  operation: 'Apply' | 'Update';
  apiVersion: string;
  subresource: string;
  time: string | undefined;
  fields: FieldSet;
}

/** The entries of an object by who they are; of applies the version does not count. */
export type Entries = ReadonlyMap<string, Entry>;

export function entryKey({ manager, operation, apiVersion, subresource }: Omit<Entry, 'fields' | 'time'>): string {
  return JSON.stringify([manager, operation, operation === 'Apply' ? '' : apiVersion, subresource]);
}

/** Reads `metadata.managedFields`; undefined where it is not there or not legible. */
export function readEntries(managedFields: unknown): Entries | undefined {
  if (!Array.isArray(managedFields)) return undefined;
  try {
    const entries = managedFields.map(readEntry);
    return new Map(entries.map((entry) => [entryKey(entry), entry]));
  } catch {
    return undefined;
  }
}

function readEntry(written: unknown): Entry {
  if (!isJsonObject(written)) throw new TypeError('an entry of managedFields is an object');
  const { manager, operation, apiVersion, subresource, time, fieldsV1 } = written;
  return {
    manager: String(manager ?? ''),
    operation: operation === 'Apply' ? 'Apply' : 'Update',
    apiVersion: String(apiVersion ?? ''),
    subresource: String(subresource ?? ''),
    time: typeof time === 'string' ? time : undefined,
    fields: fromFieldsV1(fieldsV1),
  };
}

/** The wire form: applies first, then by time, manager, version and subresource. */
export function writeEntries(entries: Entries): Record<string, unknown>[] {
  const compareBy = (a: Entry, b: Entry) => {
    const [first, second] = [a, b].map((entry) => [
      entry.operation,
      entry.time ?? '',
      entry.manager,
      entry.apiVersion,
      entry.subresource,
    ]);
    return String(first) < String(second) ? -1 : 1;
  };
  return [...entries.values()].toSorted(compareBy).map(({ fields, subresource, time, ...who }) => ({
    ...who,
    ...(subresource !== '' && { subresource }),
    ...(time !== undefined && { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: toFieldsV1(fields),
  }));
}

/** Replaces one entry's fields; an entry without any is gone. */
export function withEntry(entries: Entries, entry: Entry): Entries {
  const changed = new Map(entries);
  if (isEmpty(entry.fields)) changed.delete(entryKey(entry));
  else changed.set(entryKey(entry), entry);
  return changed;
}

const MAX_UPDATERS = 10;

/** Keeps at most ten entries of updates: the oldest become one of `ancient-changes` for each version. */
export function capUpdaters(entries: Entries): Entries {
  const updaters = [...entries.values()]
    .filter(({ operation }) => operation === 'Update')
    .sort((a, b) => (`${a.time ?? ''} ${entryKey(a)}` < `${b.time ?? ''} ${entryKey(b)}` ? -1 : 1));
  let capped = entries;
  for (const [index, oldest] of updaters.entries()) {
    const excess = updaters.length - MAX_UPDATERS - index;
    const next = updaters.slice(index + 1).find(({ apiVersion }) => apiVersion === oldest.apiVersion);
    if (excess <= 0 || !next) return capped;
    const bucket = { ...next, manager: 'ancient-changes', subresource: '', fields: union(oldest.fields, next.fields) };
    updaters[updaters.indexOf(next)] = bucket;
    const others = [...capped].filter(([key]) => key !== entryKey(oldest) && key !== entryKey(next));
    capped = withEntry(new Map(others), bucket);
  }
  return capped;
}
