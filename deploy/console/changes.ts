import { type Changes, type Rows, sections, type View } from './view.ts';

/** The changes from `before` to `after`; undefined if nothing changed. */
export function changesOf(before: View, after: View): Changes | undefined {
  const found = sections.flatMap((section) => {
    const change = changeOf(before[section], after[section]);
    return change ? [[section, change] as const] : [];
  });
  return found.length > 0 ? (Object.fromEntries(found) as Changes) : undefined;
}

function changeOf(before: Rows<unknown>, after: Rows<unknown>) {
  if (before === after) return undefined;
  const set = Object.entries(after).filter(([key, row]) => !isSame(before[key], row));
  const gone = Object.keys(before).filter((key) => !(key in after));
  return set.length > 0 || gone.length > 0 ? { set: Object.fromEntries(set), gone } : undefined;
}

const isSame = (a: unknown, b: unknown) => a === b || JSON.stringify(a) === JSON.stringify(b);
