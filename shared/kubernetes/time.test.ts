import { expect, test } from 'vitest';
import { formatTimeOfDay } from './time.ts';

test.each([
  ['with the minute that it is over', '2026-11-27T10:40:10Z', '2026-11-27T10:44:01Z', '10:45 UTC'],
  ['as it is, if it is a full minute', '2026-11-27T10:40:00Z', '2026-11-27T10:45:00Z', '10:45 UTC'],
  ['with its second, less than a minute before', '2026-11-27T10:40:10.2Z', '2026-11-27T10:40:30.2Z', '10:40:31 UTC'],
  ['with the date, if that is another', '2026-11-27T23:58:00Z', '2026-11-28T00:03:00Z', '2026-11-28 00:03 UTC'],
])('a coming time is written %s', (_, now, at, told) => {
  expect(formatTimeOfDay(Date.parse(at), Date.parse(now))).toBe(told);
});
