import { keyOf, type ObjectReference } from './kinds/resource.ts';

/** One value for each key, the last. */
export const distinct = <T>(values: readonly T[], keyOf: (value: T) => string): T[] => [
  ...new Map(values.map((value) => [keyOf(value), value])).values(),
];

/** One object of each name, the last: a user may have deleted it and created it again between two reads. */
export const uniqueByName = <T extends { metadata: ObjectReference }>(objects: readonly T[]): T[] =>
  distinct(objects, ({ metadata }) => keyOf(metadata));
