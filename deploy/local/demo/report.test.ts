import { expect, test } from 'vitest';
import { linesOf } from './blocks.ts';
import { type DemoResult, faultsOf, report } from './report.ts';
import { aMissingImage, anImage, images, machines } from './samples.ts';

const result: DemoResult = {
  ok: true,
  faults: [],
  seconds: 15.14,
  isLate: false,
  machines: null,
  workspace: null,
  ...images({ bytesDownloaded: 5_700_000, bytesNeeded: 2_000_000 }),
  images: [
    anImage({
      name: 'opnsense-24',
      attempts: 3,
      waitedSeconds: 9.44,
      bytesDownloaded: 5_700_000,
      bytesNeeded: 2_000_000,
      ratio: 2.85,
    }),
    aMissingImage({
      name: 'centos-6',
      waitedSeconds: 9.44,
      message: 'Not tried again: NoSuchKey: The specified key does not exist.\n\tstatus code: 404',
    }),
  ],
};

test('the report has a line for each image, why one failed, the totals, and what to try next', () => {
  expect(linesOf(report(result), { columns: 60, colour: false })).toEqual([
    '',
    'IMAGE        PHASE      ATTEMPTS  WAITED  DOWNLOADED  NEEDED',
    'opnsense-24  Succeeded         3    9.4s      5.7 MB  2.0 MB',
    'centos-6     Failed            1    9.4s         0 B       -',
    '',
    'centos-6 failed as NotFound, in its slot, as the demo turns',
    'inspection off: Not tried again: NoSuchKey: The specified',
    'key does not exist. status code: 404',
    '',
    'All as expected: 1 succeeded, 1 failed, 2 at once, 5.7 MB',
    'for 2.0 MB.',
    'Took 15.1s.',
    'Try next: npm start (the same cluster, for kubectl)',
  ]);
});

test('on 80 columns the table is whole and the totals are one line', () => {
  const lines = linesOf(report(result), { columns: 80, colour: false });
  expect(lines[2]).toBe('opnsense-24  Succeeded         3    9.4s      5.7 MB  2.0 MB   2.85');
  expect(lines.filter((line) => line.startsWith('All as expected'))[0]).toMatch(/MB\.$/);
});

test('what is not as expected stands there whole, and nothing is recommended', () => {
  const fault = `left over: expected nothing, found ${'Pod importer, '.repeat(9)}`.trim();
  const lines = linesOf(report({ ...result, ok: false, faults: [fault] }), { columns: 80, colour: false });
  expect(lines.at(-1)).toBe(`- ${fault}`);
  expect(lines.join()).not.toContain('Try next');
});

test('of the second act the totals say how many machines were Ready', () => {
  const lines = linesOf(report({ ...result, machines: machines() }), { columns: 200, colour: false });
  expect(lines).toContain('All as expected: 1 succeeded, 1 failed, 2 at once, 5.7 MB for 2.0 MB; 0 machines Ready.');
});

test.each<[string, Partial<DemoResult>]>([
  ['timeout: expected all to be done within 60s', { isLate: true, seconds: 60.1 }],
  ['machines: expected the second act, found no time left for it', { machines: null }],
  ['workspace: expected the third act, found no time left for it', { workspace: null }],
])('it is a fault of the whole: %s', (fault, more) => {
  expect(faultsOf({ ...result, ...more })).toContain(fault);
});
