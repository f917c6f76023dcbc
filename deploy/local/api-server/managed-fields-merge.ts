import { partsOf } from './managed-fields-compare.ts';
import { type FieldSet, union } from './managed-fields-set.ts';
import { type Shape, shapeOf, type Type } from './managed-fields-shape.ts';
import type { JsonObject } from './objects.ts';

/** The live value with what is applied laid over it. */
export function merge(live: unknown, applied: unknown, type: Type): unknown {
  if (applied === undefined) return live;
  const over = shapeOf(type, applied);
  const under = shapeOf(type, live);
  if (live === undefined || over.kind === 'whole' || under.kind !== over.kind) return applied;
  const lives = new Map(partsOf(live, under).map(([step, part]) => [step, part]));
  const parts = partsOf(applied, over);
  const merged = new Map(parts.map(([step, part, partType]) => [step, merge(lives.get(step), part, partType)]));
  if (over.kind === 'fields') return { ...(live as JsonObject), ...named(merged) };
  return order([...lives.keys()], [...merged.keys()]).map((step) =>
    merged.has(step) ? merged.get(step) : lives.get(step),
  );
}

function named(parts: Map<string, unknown>): JsonObject {
  return Object.fromEntries([...parts].map(([step, part]) => [step.slice(2), part]));
}

/** The applied order, with each element that is only live kept after the one it followed, as far as the two agree. */
function order(live: string[], applied: string[]): string[] {
  const isApplied = new Set(applied);
  const shared = applied.filter((step) => live.includes(step));
  const result: string[] = [];
  let [l, a] = [0, 0];
  const takeApplied = () => {
    const step = applied[a++];
    if (step === undefined) return;
    result.push(step);
    if (shared[0] === step) shared.shift();
  };
  while (l < live.length || a < applied.length) {
    const step = live[l];
    if (step === undefined) takeApplied();
    else if (step === applied[a]) {
      takeApplied();
      l++;
    } else if (!isApplied.has(step)) {
      result.push(step);
      l++;
    } else if (a >= applied.length || shared[0] !== step) l++;
    else takeApplied();
  }
  return result;
}

/** The value without the fields in `set`; what loses all its parts becomes null. */
export function remove(value: unknown, set: FieldSet, type: Type): unknown {
  const shape = shapeOf(type, value);
  if (shape.kind === 'whole') return typeof value === 'object' ? null : value;
  if (shape.kind === 'fields') {
    const kept = partsOf(value, shape).flatMap(([step, part, partType]) => keep(step, part, partType, set));
    return kept.length > 0 ? named(new Map(kept)) : null;
  }
  const items = (value as unknown[]).flatMap((item) => keep(shape.stepOf(item), item, shape.itemType, set));
  return items.length > 0 ? items.map(([, item]) => item) : null;
}

function keep(step: string, part: unknown, type: Type, set: FieldSet): [string, unknown][] {
  if (set.members.has(step)) return [];
  const below = set.children.get(step);
  return [[step, below ? remove(part, below, type) : part]];
}

/** The set with every declared field that has fields below it in the set, so that it can be removed as one. */
export function withParents(set: FieldSet, value: unknown, type: Type): FieldSet {
  const shape = shapeOf(type, value);
  const types = new Map(partsOf(value, shape).map(([step, part, partType]) => [step, { part, partType }]));
  const declared = [...set.children.keys()].filter((step) => isDeclared(shape, step));
  const children = [...set.children].map(([step, child]) => {
    const at = types.get(step);
    return [step, at ? withParents(child, at.part, at.partType) : child] as const;
  });
  return union(
    { members: new Set(declared), children: new Map(children) },
    { members: set.members, children: new Map() },
  );
}

const isDeclared = (shape: Shape, step: string) =>
  shape.kind === 'fields' && step.startsWith('f:') && shape.isDeclared(step.slice(2));
