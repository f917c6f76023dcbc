import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rangeCatcher } from './catch-ranges.ts';

const bytes = Buffer.from(Array.from({ length: 300 }, (_, index) => index % 251));

test('catches any ranges, however the stream is cut into chunks', () => {
  const range = fc.record({ offset: fc.nat(299), length: fc.integer({ min: 1, max: 100 }) });
  fc.assert(
    fc.property(fc.array(range), fc.array(fc.integer({ min: 1, max: 90 })), (ranges, cuts) => {
      const catcher = rangeCatcher();
      const caught = new Map<number, Buffer>();
      for (const [index, { offset, length }] of ranges.entries()) {
        catcher.want(offset, length, (found) => caught.set(index, found));
      }
      let at = 0;
      for (const cut of [...cuts, 300]) {
        catcher.push(bytes.subarray(at, at + cut));
        at = Math.min(300, at + cut);
      }
      const whole = ranges.flatMap(({ offset, length }, index) => (offset + length <= 300 ? [index] : []));
      expect([...caught.keys()].sort((a, b) => a - b)).toEqual(whole);
      for (const [index, found] of caught) {
        const { offset = 0, length = 0 } = ranges[index] ?? {};
        expect(found).toEqual(bytes.subarray(offset, offset + length));
      }
      expect(catcher.missing()).toHaveLength(ranges.length - whole.length);
    }),
  );
});

test('says when it is too late for a range', () => {
  const catcher = rangeCatcher();
  catcher.push(bytes.subarray(0, 100));
  expect(catcher.want(99, 1, () => {})).toBe(false);
  expect(catcher.want(100, 1, () => {})).toBe(true);
});
