import { isDeepStrictEqual } from 'node:util';
import { type FieldSet, setOf } from './managed-fields-set.ts';
import { type Shape, shapeOf, type Type } from './managed-fields-shape.ts';
import { isJsonObject, type JsonObject } from './objects.ts';

type Path = readonly string[];

/** All fields of a value, as an apply of it owns them. */
export function fieldsOf(value: unknown, type: Type): FieldSet {
  return setOf(ownedPaths(value, type, []));
}

function ownedPaths(value: unknown, type: Type, path: Path): Path[] {
  const shape = shapeOf(type, value);
  if (shape.kind === 'whole') return [path];
  return partsOf(value, shape).flatMap(([step, part, partType]) => {
    const at = [...path, step];
    const below = ownedPaths(part, partType, at);
    return isMember(shape, step, part) ? [at, ...below] : below;
  });
}

/** A field that the schema declares is owned by what is below it; anything else also itself. */
function isMember(shape: Shape, step: string, part: unknown): boolean {
  if (shape.kind !== 'fields') return true;
  return !shape.isDeclared(step.slice(2)) || part === null || (isJsonObject(part) && Object.keys(part).length === 0);
}

/** The fields or elements of a value, each with its step and type; of elements that repeat, the first. */
export function partsOf(value: unknown, shape: Shape): [step: string, part: unknown, type: Type][] {
  if (shape.kind === 'fields') {
    return Object.entries(value as JsonObject).map(([name, part]) => [`f:${name}`, part, shape.typeOf(name)]);
  }
  if (shape.kind === 'whole') return [];
  const parts = new Map<string, unknown>();
  for (const item of value as unknown[]) {
    const step = shape.stepOf(item);
    if (!parts.has(step)) parts.set(step, item);
  }
  return [...parts].map(([step, item]) => [step, item, shape.itemType]);
}

/** What an update did to an object. */
export interface Comparison {
  added: FieldSet;
  modified: FieldSet;
  removed: FieldSet;
}

export function compare(before: unknown, after: unknown, type: Type): Comparison {
  const paths = { added: [] as Path[], modified: [] as Path[], removed: [] as Path[] };
  compareAt(before, after, type, [], paths);
  return { added: setOf(paths.added), modified: setOf(paths.modified), removed: setOf(paths.removed) };
}

type Differences = Record<keyof Comparison, Path[]>;

function compareAt(before: unknown, after: unknown, type: Type, path: Path, found: Differences) {
  if (isDeepStrictEqual(before, after)) return;
  const old = shapeOf(type, before);
  const now = shapeOf(type, after);
  const kind = before === undefined ? 'added' : after === undefined ? 'removed' : 'modified';
  if (isLeaf(old, before) && isLeaf(now, after)) {
    found[kind].push(path);
    return;
  }
  if (kind !== 'modified' || old.kind !== now.kind) found[kind].push(path);
  const olds = new Map(partsOf(before, old).map(([step, ...part]) => [step, part]));
  for (const [step, part, partType] of partsOf(after, now)) {
    compareAt(olds.get(step)?.[0], part, partType, [...path, step], found);
    olds.delete(step);
  }
  for (const [step, [part, partType]] of olds) compareAt(part, undefined, partType, [...path, step], found);
}

/** What is empty has no parts to tell apart. */
function isLeaf(shape: Shape, value: unknown): boolean {
  return shape.kind === 'whole' || Object.keys(value as object).length === 0;
}
