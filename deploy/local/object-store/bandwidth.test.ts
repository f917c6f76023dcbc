import { expect, test } from 'vitest';
import { steppedClock } from '../clock.ts';
import { sharedBandwidth } from './bandwidth.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));

function download(link: ReturnType<typeof sharedBandwidth>) {
  const state = { bytes: 0 };
  const run = async () => {
    for (;;) {
      const piece = link.pieceBytes();
      await link.take(piece);
      state.bytes += piece;
    }
  };
  void run();
  return state;
}

async function pass(clock: ReturnType<typeof steppedClock>, milliseconds: number) {
  for (let passed = 0; passed < milliseconds; passed += 5) {
    clock.step(5);
    await settled();
  }
}

test('one download gets the whole link', async () => {
  const clock = steppedClock();
  const one = download(sharedBandwidth(clock, 1_000_000));
  await pass(clock, 1000);
  expect(one.bytes).toBeGreaterThan(950_000);
  expect(one.bytes).toBeLessThan(1_070_000);
});

test('four downloads get a quarter each, also a late one', async () => {
  const clock = steppedClock();
  const link = sharedBandwidth(clock, 1_000_000);
  const early = [download(link), download(link), download(link)];
  await pass(clock, 500);
  const late = download(link);
  const before = early.map(({ bytes }) => bytes);
  await pass(clock, 2000);
  const shares = [...early.map(({ bytes }, index) => bytes - (before[index] ?? 0)), late.bytes];
  for (const share of shares) expect(share / 500_000).toBeCloseTo(1, 0.5);
  expect(Math.max(...shares) - Math.min(...shares)).toBeLessThan(50_000);
});

test('a new limit holds for those who wait already', async () => {
  const clock = steppedClock();
  const link = sharedBandwidth(clock, 0);
  const one = download(link);
  await pass(clock, 1000);
  expect(one.bytes).toBe(0);
  link.limitTo(1_000_000);
  await pass(clock, 1000);
  expect(one.bytes).toBeGreaterThan(900_000);
  link.limitTo(100_000);
  const before = one.bytes;
  await pass(clock, 1000);
  expect(one.bytes - before).toBeLessThan(120_000);
});

test('without a limit no download waits', async () => {
  await sharedBandwidth(steppedClock()).take(1e9);
});
