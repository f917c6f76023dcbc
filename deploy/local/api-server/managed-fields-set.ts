import { isJsonObject } from './objects.ts';
/**
 * A set of field paths, as `FieldsV1` writes it. A step of a path is `f:name` for a field, `k:{"type":"Ready"}` for an
 * element of a keyed list, `v:"value"` for an element of a set.
 */
export interface FieldSet {
  members: ReadonlySet<string>;
  children: ReadonlyMap<string, FieldSet>;
}

export const EMPTY: FieldSet = { members: new Set(), children: new Map() };

export const isEmpty = (set: FieldSet): boolean => set.members.size === 0 && set.children.size === 0;

/** The set of exactly these paths; the empty path, which is the whole object, has no owner. */
export function setOf(paths: Iterable<readonly string[]>): FieldSet {
  const members = new Set<string>();
  const below = new Map<string, string[][]>();
  for (const [step, ...rest] of paths) {
    if (step === undefined) continue;
    if (rest.length === 0) members.add(step);
    else below.set(step, [...(below.get(step) ?? []), rest]);
  }
  return { members, children: new Map([...below].map(([step, rests]) => [step, setOf(rests)])) };
}

export function pathsOf(set: FieldSet, prefix: readonly string[] = []): string[][] {
  const here = [...set.members].map((step) => [...prefix, step]);
  const below = [...set.children].flatMap(([step, child]) => pathsOf(child, [...prefix, step]));
  return [...here, ...below];
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  const children = new Map(a.children);
  for (const [step, child] of b.children) {
    const other = children.get(step);
    children.set(step, other ? union(other, child) : child);
  }
  return { members: a.members.union(b.members), children };
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return childrenOf(a, a.members.intersection(b.members), (child, step) => {
    const other = b.children.get(step);
    return other ? intersection(child, other) : EMPTY;
  });
}

export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return childrenOf(a, a.members.difference(b.members), (child, step) => {
    const other = b.children.get(step);
    return other ? difference(child, other) : child;
  });
}

function childrenOf(
  set: FieldSet,
  members: Set<string>,
  change: (child: FieldSet, step: string) => FieldSet,
): FieldSet {
  const children = [...set.children].map(([step, child]) => [step, change(child, step)] as const);
  return { members, children: new Map(children.filter(([, child]) => !isEmpty(child))) };
}

/** The wire form: nested objects, `.` where a field with fields below it is itself in the set. */
export function toFieldsV1(set: FieldSet, isMember = false): Record<string, unknown> {
  const steps = [...new Set([...set.members, ...set.children.keys()])].sort();
  const fields = steps.map((step) => {
    const child = set.children.get(step);
    return [step, child ? toFieldsV1(child, set.members.has(step)) : {}] as const;
  });
  return { ...(isMember && { '.': {} }), ...Object.fromEntries(fields) };
}

export function fromFieldsV1(fields: unknown): FieldSet {
  const members = new Set<string>();
  const children = new Map<string, FieldSet>();
  for (const [step, value] of Object.entries(isJsonObject(fields) ? fields : {})) {
    if (step === '.') continue;
    const child = fromFieldsV1(value);
    const key = canonical(step);
    if (!isEmpty(child)) children.set(key, child);
    if (isEmpty(child) || (isJsonObject(value) && '.' in value)) members.add(key);
  }
  return { members, children };
}

/** The step to an element of a list by the values of its key fields. */
export function keyStep(keys: Record<string, unknown>): string {
  const sorted = Object.entries(keys).sort(([a], [b]) => (a < b ? -1 : 1));
  return `k:${JSON.stringify(Object.fromEntries(sorted))}`;
}

function canonical(step: string): string {
  return step.startsWith('k:') ? keyStep(JSON.parse(step.slice(2)) as Record<string, unknown>) : step;
}

/** A path as messages write it: `.status.conditions[type="Ready"].status`. */
export function pathText(path: readonly string[]): string {
  return path.map(stepText).join('');
}

function stepText(step: string): string {
  const text = step.slice(2);
  if (step.startsWith('v:')) return `[=${text}]`;
  if (step.startsWith('i:')) return `[${text}]`;
  if (step.startsWith('f:')) return `.${text}`;
  const keys = Object.entries(JSON.parse(text) as Record<string, unknown>);
  return `[${keys.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(',')}]`;
}
