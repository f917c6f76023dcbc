import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { type DemoView, type ImageView, render } from './frame.ts';

const image = (name: string, more: Partial<ImageView> = {}): ImageView => ({
  name,
  phase: 'Queued',
  attempts: 0,
  waitedMs: 1200,
  remark: 'place 1 in the queue',
  ...more,
});

const view: DemoView = {
  elapsedMs: 6300,
  slots: [{ name: 'debian-12', attempt: 2, downloadedBytes: 1_500_000, neededBytes: 3_000_000 }, undefined],
  images: [
    image('debian-12', { phase: 'Syncing', attempts: 2, remark: 'attempt 2' }),
    image('ubuntu-24.04', { phase: 'Succeeded', attempts: 1, remark: 'ready to clone' }),
    image('centos-6'),
  ],
};

test('the display shows the counts, a bar for each slot, and a line for each image', () => {
  expect(render(view, { columns: 80, colour: false })).toEqual([
    '6.3s  1 queued, 1 syncing, 1 succeeded',
    '',
    'slot 1  debian-12     ████████████████░░░░░░░░░░░░░░░  50% of 3.0 MB, attempt 2',
    'slot 2  free',
    '',
    'IMAGE         PHASE      ATTEMPTS  WAITED',
    'debian-12     Syncing           2    1.2s  attempt 2',
    'ubuntu-24.04  Succeeded         1    1.2s  ready to clone',
    'centos-6      Queued                 1.2s  place 1 in the queue',
  ]);
});

describe('the display', () => {
  const everyPhase: DemoView = {
    elapsedMs: 59_900,
    slots: [
      { name: 'windows-2022', attempt: 1, downloadedBytes: 99_900_000, neededBytes: 99_900_000 },
      { name: 'opnsense-24', attempt: 3, downloadedBytes: 0, neededBytes: 0 },
    ],
    images: (['', 'Queued', 'Syncing', 'Snapshotting', 'Retrying', 'Succeeded', 'Failed'] as const).map((phase) =>
      image(`image-${phase}`, {
        phase,
        attempts: 3,
        remark: 'Unable to process data: unexpected EOF. Next attempt in 2s.',
      }),
    ),
  };
  test.each([40, 60, 80, 200])('fits %s columns', (columns) => {
    for (const line of render(everyPhase, { columns, colour: false }))
      expect([...line].length).toBeLessThanOrEqual(columns);
  });
  test('says all of its counts in 80 columns', () => {
    expect(render(everyPhase, { columns: 80, colour: false })[0]).toMatch(/1 failed$/);
  });
  test('has the same words in colour', () => {
    const coloured = render(view, { columns: 80, colour: true });
    expect(coloured.join()).toContain('\u001b[');
    expect(coloured.map((line) => stripVTControlCharacters(line).trimEnd())).toEqual(
      render(view, { columns: 80, colour: false }),
    );
  });
  test('has no bar for an object that is not there', () => {
    const slot = { name: 'centos-6', attempt: 1, downloadedBytes: 0, neededBytes: 0 };
    expect(render({ ...view, slots: [slot] }, { columns: 80, colour: false })[2]).not.toContain('%');
  });
});
