import { isDeepStrictEqual } from 'node:util';
import type { Environment } from '@marcbachmann/cel-js';

type Comparable = bigint | number | string | boolean | Date;
type List<T> = readonly T[] | ReadonlySet<T>;

/** Adds Kubernetes' list library (isSorted, sum, min, max, indexOf, lastIndexOf) and cel-go's sets. */
export function addLists(environment: Environment): void {
  environment
    .registerFunction('list<V>.isSorted(): bool', (list: List<Comparable>) =>
      [...list].every((value, index, all) => index === 0 || (all[index - 1] as Comparable) <= value),
    )
    .registerFunction('list<int>.sum(): int', (list: List<bigint>) => [...list].reduce((sum, value) => sum + value, 0n))
    .registerFunction('list<double>.sum(): double', (list: List<number>) =>
      [...list].reduce((sum, value) => sum + value, 0),
    )
    .registerFunction('list<V>.min(): V', (list: List<Comparable>) => extreme('min', list, (a, b) => b < a))
    .registerFunction('list<V>.max(): V', (list: List<Comparable>) => extreme('max', list, (a, b) => b > a))
    .registerFunction('list<V>.indexOf(V): int', (list: List<unknown>, wanted: unknown) =>
      BigInt([...list].findIndex((value) => isDeepStrictEqual(value, wanted))),
    )
    .registerFunction('list<V>.lastIndexOf(V): int', (list: List<unknown>, wanted: unknown) =>
      BigInt([...list].findLastIndex((value) => isDeepStrictEqual(value, wanted))),
    )
    .registerType('SetsLibrary', { ctor: SetsLibrary })
    .registerConstant('sets', 'SetsLibrary', new SetsLibrary())
    .registerFunction(
      'SetsLibrary.contains(list<V>, list<V>): bool',
      (_sets: unknown, a: List<unknown>, b: List<unknown>) => containsAll(a, b),
    )
    .registerFunction(
      'SetsLibrary.equivalent(list<V>, list<V>): bool',
      (_sets: unknown, a: List<unknown>, b: List<unknown>) => containsAll(a, b) && containsAll(b, a),
    )
    .registerFunction(
      'SetsLibrary.intersects(list<V>, list<V>): bool',
      (_sets: unknown, a: List<unknown>, b: List<unknown>) => [...a].some((value) => contains(b, value)),
    );
}

class SetsLibrary {}

function extreme(name: string, list: List<Comparable>, isBetter: (best: Comparable, value: Comparable) => boolean) {
  if ([...list].length === 0) throw new RangeError(`${name} called on empty list`);
  return [...list].reduce((best, value) => (isBetter(best, value) ? value : best));
}

const contains = (list: List<unknown>, wanted: unknown) => [...list].some((value) => isDeepStrictEqual(value, wanted));

const containsAll = (list: List<unknown>, wanted: List<unknown>) => [...wanted].every((value) => contains(list, value));
