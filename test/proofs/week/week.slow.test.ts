import { expect, test } from 'vitest';
import { bookingsOf } from './bookings.ts';
import { judge } from './judge.ts';
import { concurrency, simulateWeek, startMs } from './simulate-week.ts';

test('a week of 200 workspaces: none is late of which no one was told, nothing is left, each content is downloaded once', async () => {
  const week = bookingsOf(1, startMs);
  const { violations, figures } = judge(week, await simulateWeek(week, { seed: 1 }), concurrency);
  console.log(JSON.stringify(figures));
  expect(violations).toEqual([]);
  expect(figures).toMatchObject({ labs: 200, downloads: figures.contents, lateBecause: { other: 0 } });
  // The week has labs that are late, and hibernate: or nothing would be proven of them.
  expect(figures.late).toBeGreaterThan(16);
  expect(figures.hibernations).toBeGreaterThan(20);
}, 900_000);
