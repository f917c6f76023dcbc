import { expect, test } from 'vitest';
import { egressAnnotation } from '../../shared/images/egress.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { parsePolicy } from '../../shared/policy.ts';
import { aVMDiskImage } from '../../test/support/builders/images.ts';
import { costLines, costOf } from './cost-view.ts';
import { stoppedBy } from './stopped.ts';

const look = { columns: Number.POSITIVE_INFINITY, colour: false };
const nowMs = Date.parse('2026-11-27T12:00:00Z');
const gib = 2 ** 30;
const egress = { '2026-11-20': { lab: 4 * gib }, '2026-11-27': { lab: gib, 'vmdi-farm': 3 * gib } };
const lease = Lease.parse({
  metadata: {
    name: 'sync-slots',
    annotations: {
      [egressAnnotation]: JSON.stringify(egress),
      'pelotech.ot/egress-by-requester': JSON.stringify({
        '2026-11-20': { 'Workspace demo': 3 * gib },
        '2026-11-27': { 'Workspace demo': 2 * gib, direct: gib },
      }),
      'pelotech.ot/egress-by-image': JSON.stringify({
        '2026-11-20': { 'lab/gone': 2 * gib, 'vmdi-farm/large': 2 * gib },
        '2026-11-27': { 'vmdi-farm/large': 3 * gib },
      }),
    },
  },
});
const source = { bytes: gib, inspectedAt: '', queuedAt: '' };
const read = (data: Record<string, string> = {}) => ({
  images: [
    aVMDiskImage({ name: 'small', status: { phase: 'Succeeded', egressBytes: gib, source } }),
    aVMDiskImage({ name: 'large', status: { phase: 'Failed', egressBytes: 6 * gib, source } }),
    aVMDiskImage({ name: 'new' }),
  ],
  lease,
  policy: parsePolicy({ data }),
});

test('by namespace, against the budget and with a price', () => {
  const view = costOf(read({ egressBudget: '10Gi/7d', egressPricePerGiB: '0.09' }), {
    by: 'namespace',
    days: 31,
    nowMs,
  });
  expect(costLines(view, look)).toEqual([
    'Bytes requested from sources in the last 31 days, including today; each attempt counts in full.',
    '',
    'NAMESPACE  BYTES  PRICE',
    'lab          5Gi   0.45',
    'vmdi-farm    3Gi   0.27',
    'all          8Gi   0.72',
    'An attempt whose source has no known size counts with the size of its disk.',
    '',
    '6Gi of 10Gi in 7 days are left (egressBudget).',
  ]);
});

test('by who asked, and what the Lease has no name for', () => {
  const view = costOf(read({ egressPricePerGiB: '1' }), { by: 'requester', days: 31, nowMs });
  expect(costLines(view, look).slice(2)).toEqual([
    'REQUESTER       BYTES  PRICE',
    'Workspace demo    5Gi   5.00',
    'others            2Gi   2.00',
    'direct            1Gi   1.00',
    'all               8Gi   8.00',
    'An attempt whose source has no known size counts with the size of its disk.',
  ]);
  expect(costOf(read(), { by: 'requester', days: 1, nowMs })).toEqual({
    by: 'requester',
    days: 1,
    rows: [
      { name: 'Workspace demo', bytes: 2 * gib, price: null },
      { name: 'direct', bytes: gib, price: null },
      { name: 'others', bytes: gib, price: null },
    ],
    total: { name: 'all', bytes: 4 * gib, price: null },
    budget: null,
  });
});

test('by image of some days, deleted ones among them', () => {
  const view = costOf(read(), { by: 'image', days: 8, nowMs });
  expect(costLines(view, look)).toEqual([
    'Bytes requested from sources in the last 8 days, including today; each attempt counts in full.',
    '',
    'IMAGE               BYTES',
    'vmdi-farm/large       5Gi',
    'lab/gone (deleted)    2Gi',
    'others                1Gi',
    'all                   8Gi',
    'An attempt whose source has no known size counts with the size of its disk.',
  ]);
  expect(view.rows[1]).toEqual({ name: 'lab/gone', bytes: 2 * gib, price: null, deleted: true });
});

test('by image since each was made, and of those that were deleted what the Lease has', () => {
  const view = costOf(read(), { by: 'image', days: null, nowMs });
  expect(costLines(view, look)).toEqual([
    'Bytes requested from sources by the existing images since each was made, and by deleted ones in the last 31 days; each attempt counts in full.',
    '',
    'IMAGE               BYTES',
    'vmdi-farm/large       6Gi',
    'lab/gone (deleted)    2Gi',
    'vmdi-farm/small       1Gi',
    'vmdi-farm/new           0',
    'all                   9Gi',
    'An attempt whose source has no known size counts with the size of its disk.',
  ]);
});

test('what counts with the size of its disk, for no inspection knew its source, is marked as an estimate', () => {
  const images = [
    aVMDiskImage({ name: 'small', status: { egressBytes: gib, source } }),
    aVMDiskImage({ name: 'large', status: { egressBytes: 6 * gib } }),
    aVMDiskImage({ name: 'new' }),
  ];
  const lines = (by: 'image' | 'namespace' | 'requester') =>
    costLines(costOf({ ...read(), images }, { by, days: 31, nowMs }), look).slice(3);
  expect(lines('image')).toEqual([
    'vmdi-farm/large      ~5Gi',
    'lab/gone (deleted)    2Gi',
    'others                1Gi',
    'all                  ~8Gi',
    '~ An attempt whose source has no known size counts with the size of its disk.',
  ]);
  expect(lines('namespace')).toContain('vmdi-farm   ~3Gi');
  expect(lines('requester')).toContain('direct           ~1Gi');
  const [large, gone] = costOf({ ...read(), images }, { by: 'image', days: 31, nowMs }).rows;
  expect([large?.estimated, gone?.estimated]).toEqual([true, undefined]);
});

test('a spent budget stops the queue, and says until when', () => {
  const { policy } = read({ egressBudget: '4Gi/1d' });
  expect(stoppedBy(policy, lease, { hasWaiting: false, nowMs })?.why).toEqual(
    expect.stringContaining(
      'the egressBudget (4Gi in 1 day) is spent; something of it is left again on 2026-11-28 (UTC)',
    ),
  );
  expect(stoppedBy(read({ egressBudget: '5Gi/1d' }).policy, lease, { hasWaiting: false, nowMs })).toBeUndefined();
});
