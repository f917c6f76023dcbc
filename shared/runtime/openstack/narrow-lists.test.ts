import { describe, expect, test } from 'vitest';
import { noEvents } from '../../function.ts';
import { narrowLists } from './narrow-lists.ts';

const names = (count: number, length = 1) =>
  Array.from({ length: count }, (_, index) => `${index}`.padEnd(length, 'x'));
const event = narrowLists(noEvents);

describe('together', () => {
  const listed = async (asked: readonly string[], { some } = event) => {
    const lists: unknown[] = [];
    await some(asked, async (given) => {
      lists.push(given ?? 'all');
      return [];
    });
    return lists;
  };
  test.each([
    { asked: [], lists: [] },
    { asked: ['a', 'b', 'a'], lists: [['a', 'b']] },
    { asked: names(32), lists: [names(32)] },
    { asked: names(33), lists: ['all'] },
    { asked: names(12, 255), lists: ['all'] },
    { asked: ['名'.repeat(340)], lists: ['all'] },
  ])(
    '$asked.length things are one request, of all if they are many or their names are long',
    async ({ asked, lists }) => {
      expect(await listed(asked)).toEqual(lists);
    },
  );
  test.each([
    { ...noEvents, sweep: true },
    { ...noEvents, audited: [] },
  ])('at a sweep and an audit all are listed', async (batch) => {
    expect(await listed(['a'], narrowLists(batch))).toEqual(['all']);
    expect(await listed([], narrowLists(batch))).toEqual([]);
  });
});

describe('one by one', () => {
  const listed = async (asked: readonly string[], { each } = event) => {
    const lists: string[] = [];
    let [now, most] = [0, 0];
    const found = await each(asked, async (one = 'all') => {
      most = Math.max(most, ++now);
      await new Promise(setImmediate);
      now--;
      lists.push(one);
      return [one];
    });
    expect(found).toEqual(lists);
    return { lists, most };
  };
  test.each([
    { asked: [], lists: [], most: 0 },
    { asked: ['a', 'b', 'a'], lists: ['a', 'b'], most: 2 },
    { asked: names(32), lists: names(32), most: 8 },
    { asked: names(33), lists: ['all'], most: 1 },
  ])(
    '$asked.length things are asked for once each, eight at a time, many as one list',
    async ({ asked, ...expected }) => {
      expect(await listed(asked)).toEqual(expected);
    },
  );
  test.each([
    { ...noEvents, sweep: true },
    { ...noEvents, audited: [] },
  ])('at a sweep and an audit all are listed', async (batch) => {
    expect(await listed(['a'], narrowLists(batch))).toEqual({ lists: ['all'], most: 1 });
  });
});
