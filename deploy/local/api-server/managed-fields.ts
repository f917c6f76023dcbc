import { isDeepStrictEqual } from 'node:util';
import { type Comparison, compare, fieldsOf } from './managed-fields-compare.ts';
import { type ApplyConflict, conflictsOf, describeConflicts } from './managed-fields-conflict.ts';
import {
  capUpdaters,
  type Entries,
  type Entry,
  entryKey,
  readEntries,
  withEntry,
  writeEntries,
} from './managed-fields-entries.ts';
import { merge, remove, withParents } from './managed-fields-merge.ts';
import { difference, EMPTY, type FieldSet, intersection, isEmpty, setOf, union } from './managed-fields-set.ts';
import { rootType, type Type } from './managed-fields-shape.ts';
import { ApplyTypeError, assertMergeable } from './managed-fields-typed.ts';
import { isJsonObject, type JsonObject } from './objects.ts';
import type { Structural } from './schema-structural.ts';

export { type ApplyConflict, ApplyTypeError, describeConflicts };

interface Write {
  manager: string;
  /** Empty for the object itself. */
  subresource: string;
  apiVersion: string;
  /** RFC 3339, in seconds. */
  time: string;
  /** The kind's `openAPIV3Schema`; without it merging is deduced from the values. */
  schema?: unknown;
}

export interface ApplyRequest extends Write {
  /** Undefined where there is no object yet. */
  live: unknown;
  applied: unknown;
  force: boolean;
}

/** Server-side apply: `live` with `applied` merged in and the fields recorded as the manager's; where there are conflicts the object is `live`, unchanged. Throws an ApplyTypeError for what does not fit the schema. */
export function applyServerSide(request: ApplyRequest): { object: unknown; conflicts: ApplyConflict[] } {
  const type = typeOf(request.schema);
  const { object: live, managedFields } = split(request.live ?? headOf(request.applied));
  const applied = visibleTo(request.subresource, split(request.applied).object);
  const me: Entry = { ...identity(request, 'Apply'), fields: withoutSystemFields(fieldsOf(applied, type)) };
  assertMergeable(applied, type);
  const before = trackedFrom(live, readEntries(managedFields), type, request);
  const last = before.get(entryKey(me));
  const whole = merge(live, applied, type);
  const merged = withHead(pruneDropped(whole, withEntry(before, me), last?.fields, type), whole);
  const others = new Map([...before].filter(([key]) => key !== entryKey(me)));
  const { entries, taken } = takeFrom(others, compare(live, merged, type));
  if (taken.length > 0 && !request.force) return { object: request.live, conflicts: taken.flatMap(conflictsOf) };
  // An apply that changes only the ownership keeps its time, even if it has none.
  const time = isDeepStrictEqual(live, merged) ? last?.time : request.time;
  return { object: join(merged, writeEntries(withEntry(entries, { ...me, time }))), conflicts: [] };
}

interface UpdateRequest extends Write {
  operation?: 'Update';
  /** Undefined for a new object. */
  before: unknown;
  after: unknown;
}

/** Records who changed what in `after.metadata.managedFields`, for POST, PUT and PATCH; a change of nothing records nothing. */
export function recordUpdate(request: UpdateRequest): void {
  const { before, after, schema } = request;
  if (!isJsonObject(after) || !isJsonObject(after.metadata)) return;
  const type = typeOf(schema);
  const known = entriesBefore(request);
  const { object: old } = split(before ?? headOf(after));
  const { object: now } = split(after);
  delete after.metadata.managedFields;
  // A client that cleared managedFields of an existing object wants none.
  if (before !== undefined && known.size === 0) return;
  const changes = compare(old, now, type);
  const fields = withoutSystemFields(union(changes.added, changes.modified));
  const mine: Entry = { ...identity(request, 'Update'), fields };
  let { entries } = takeFrom(known, changes);
  if (!isEmpty(mine.fields)) {
    const earlier = entries.get(entryKey(mine))?.fields ?? EMPTY;
    entries = capUpdaters(withEntry(entries, { ...mine, fields: union(mine.fields, earlier) }));
  }
  if (entries.size > 0) after.metadata.managedFields = writeEntries(entries);
}

const typeOf = (schema: unknown): Type => rootType(isJsonObject(schema) ? (schema as Structural) : undefined);

function identity({ manager, subresource, apiVersion, time }: Write, operation: Entry['operation']) {
  return { manager, operation, apiVersion, subresource, time };
}

/** An object without fields, of the kind of another. */
const headOf = (object: unknown) =>
  isJsonObject(object) ? { apiVersion: object.apiVersion, kind: object.kind, metadata: {} } : {};

function split(object: unknown): { object: JsonObject; managedFields: unknown } {
  if (!isJsonObject(object)) return { object: {}, managedFields: undefined };
  const { managedFields, ...metadata } = isJsonObject(object.metadata) ? object.metadata : {};
  const kept = Object.entries(metadata).filter(([, value]) => !isNothing(value));
  return { object: { ...object, metadata: Object.fromEntries(kept) }, managedFields };
}

/** Metadata is of a Go type, which knows no difference between empty and absent. */
const isNothing = (value: unknown) => value === null || (typeof value === 'object' && Object.keys(value).length === 0);

function join(object: unknown, managedFields: unknown[]): unknown {
  const { object: fields } = split(structuredClone(object));
  const metadata = fields.metadata as JsonObject;
  return { ...fields, metadata: managedFields.length > 0 ? { ...metadata, managedFields } : metadata };
}

/** A subresource but `scale` takes no part of the spec; metadata it ignores later, though it records its owner. */
function visibleTo(subresource: string, applied: JsonObject): JsonObject {
  if (subresource === '' || subresource === 'scale') return applied;
  const { spec: _, ...visible } = applied;
  return visible;
}

/** Fields without a recorded owner belong to a manager from before. */
function trackedFrom(live: JsonObject, entries: Entries | undefined, type: Type, { apiVersion, time }: Write): Entries {
  if (entries && entries.size > 0) return entries;
  const fields = withoutSystemFields(compare(headOf(live), live, type).added);
  return withEntry(new Map(), {
    manager: 'before-first-apply',
    operation: 'Update',
    apiVersion,
    subresource: '',
    time,
    fields,
  });
}

function entriesBefore({ before, after, subresource }: UpdateRequest): Entries {
  const live = readEntries(split(before).managedFields) ?? new Map();
  const sent = split(after).managedFields;
  if (subresource !== '' || !Array.isArray(sent)) return live;
  const isReset = sent.length === 0 || (sent.length === 1 && Object.keys(sent[0] ?? {}).length === 0);
  return isReset ? new Map() : (readEntries(sent) ?? live);
}

/** Takes what a write changed from everyone who had it; `taken` says from whom, removals aside. */
function takeFrom(entries: Entries, { added, modified, removed }: Comparison) {
  const changed = union(added, modified);
  const taken: Entry[] = [];
  let left = entries;
  for (const entry of entries.values()) {
    const lost = intersection(entry.fields, changed);
    if (!isEmpty(lost)) taken.push({ ...entry, fields: lost });
    else if (!isEmpty(entry.fields) && isEmpty(intersection(entry.fields, removed))) continue;
    left = withEntry(left, { ...entry, fields: difference(difference(entry.fields, lost), removed) });
  }
  return { entries: left, taken };
}

/** Removes fields that the manager applied last time but not now, and that no other manager owns. */
function pruneDropped(merged: unknown, entries: Entries, last: FieldSet | undefined, type: Type): unknown {
  if (!last || isEmpty(last)) return merged;
  const parents = (set: FieldSet) => withParents(set, merged, type);
  const owned = [...entries.values()].reduce((all, { fields }) => union(all, fields), EMPTY);
  const all = parents(fieldsOf(merged, type));
  const left = (value: unknown) => parents(fieldsOf(value ?? {}, type));
  const withoutLast = remove(merged, parents(last), type);
  const withOwned = remove(merged, difference(all, union(left(withoutLast), parents(owned))), type);
  return remove(merged, intersection(difference(all, left(withOwned)), parents(last)), type);
}

/** Fields without an owner are not removed with owned ones. */
function withHead(object: unknown, whole: unknown): JsonObject {
  const { apiVersion, kind, metadata } = split(whole).object;
  const system = Object.entries(metadata as JsonObject).filter(([name]) => SYSTEM_METADATA.includes(name));
  const kept = split(object).object;
  return {
    ...kept,
    apiVersion,
    kind,
    metadata: { ...(kept.metadata as JsonObject | undefined), ...Object.fromEntries(system) },
  };
}

/** Metadata that the server keeps itself belongs to no manager. */
function withoutSystemFields(fields: FieldSet): FieldSet {
  return difference(fields, SYSTEM_FIELDS);
}

const SYSTEM_METADATA = [
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'clusterName',
  'generation',
  'managedFields',
  'resourceVersion',
];

const SYSTEM_FIELDS = setOf([
  ['f:apiVersion'],
  ['f:kind'],
  ['f:metadata'],
  ...SYSTEM_METADATA.map((name) => ['f:metadata', `f:${name}`]),
]);
