import { describe, expect, test } from 'vitest';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { ApiError, NoAnswer } from '../../shared/runtime/errors.ts';
import type { Watching } from '../../shared/runtime/reflect.ts';
import { changesBetween, fitted, whileWatching } from './watch.ts';

const outcome = (...objects: (readonly [string, string])[]) => ({
  lines: [],
  json: {},
  objects: objects.map(([about, says]) => ({ name: about, about, says })),
  code: 0 as const,
});

test('in a pipe each object has a line when it is new, has changed or is gone', () => {
  const first = outcome(['a', 'Queued'], ['b', 'Syncing']);
  expect(changesBetween(undefined, first)).toEqual(['a: Queued', 'b: Syncing']);
  expect(changesBetween(first.objects, first)).toEqual([]);
  expect(changesBetween(first.objects, outcome(['b', 'Snapshotting'], ['c', 'Queued']))).toEqual([
    'b: Snapshotting',
    'c: Queued',
    'a: gone',
  ]);
});

test('lines for which the terminal is too low are counted', () => {
  expect(fitted(['1', '2', '3'], 4)).toEqual(['1', '2', '3']);
  expect(fitted(['1', '2', '3', '4'], 4)).toEqual(['1', '2', 'and 2 more lines, for which the terminal is too low']);
});

describe('a kind whose first list fails', () => {
  /** The first two lists fail. */
  async function watching(failure: Error) {
    const stop = new AbortController();
    const waits: number[] = [];
    let lists = 0;
    const kube: Watching = {
      async *pages() {
        lists += 1;
        if (lists <= 2) throw failure;
        yield { items: [], resourceVersion: '1' };
      },
      watch: async () => stop.abort(),
    };
    const pause = async (ms: number) => void waits.push(ms);
    const done = whileWatching({ kube }, [{ resource: VMDiskImage }], async () => undefined, stop.signal, pause);
    await new Promise(setImmediate);
    stop.abort();
    await done;
    return { lists, waits };
  }

  test.each([
    ['the API server is overloaded', new ApiError(503, 'ServiceUnavailable', 'overloaded')],
    ['the API server does not answer', new NoAnswer('timed out')],
  ])('is watched later if %s', async (_, failure) => {
    const { lists, waits } = await watching(failure);
    expect(lists).toBe(3);
    expect(waits.slice(0, 2)).toEqual([1000, 2000]);
  });

  test.each([403, 404])('is left out if the answer is %i', async (status) => {
    expect(await watching(new ApiError(status, '', 'no'))).toMatchObject({ lists: 1 });
  });
});
