import { expect, test } from 'vitest';
import { at, aVMDiskImage, start } from '../../test/support/builders/images.ts';
import { parsePolicy } from '../policy.ts';
import { budgetLeft, type Egress } from './egress.ts';
import { eligibleOf, gateOf } from './eligible.ts';

const policyOf = (egressBudget?: string) =>
  parsePolicy({ data: { inspectTimeout: '0s', ...(egressBudget ? { egressBudget } : {}) } });
const queued = { phase: 'Queued', queuedAt: at(0) } as const;
const gates = { underWay: new Set<string>(), policy: policyOf(), bytesLeft: undefined, nowMs: start };

test('with a budget an image whose source cannot be reached waits, so that a mistyped host spends nothing', () => {
  const found = { status: 'False', reason: 'SourceUnreachable', message: '', lastTransitionTime: at(0) } as const;
  const source = { bytes: 1, inspectedAt: at(0), queuedAt: at(0) };
  const lost = aVMDiskImage({ status: { ...queued, source, conditions: [{ type: 'SourceInspected', ...found }] } });
  expect(gateOf(lost, gates)).toBeUndefined();
  expect(gateOf(lost, { ...gates, policy: policyOf('1Gi/1d'), bytesLeft: 1 })).toBe('SourceUnreachable');
});

test('a spent budget keeps back all but what an admin of an image namespace lets go ahead', () => {
  const spent: Egress = { [at(0).slice(0, 10)]: { lab: 3 * 2 ** 30 } };
  const urgent = { annotations: { 'pelotech.ot/ignore-budget': 'true' }, status: queued };
  const images = [
    aVMDiskImage({ name: 'a', status: queued }),
    aVMDiskImage({ name: 'b', ...urgent }),
    aVMDiskImage({ name: 'c', namespace: 'lab', ...urgent }),
  ];
  const limited = (budget: string) => {
    const policy = policyOf(budget);
    return { policy, bytesLeft: budgetLeft(policy, spent, start) };
  };
  const names = (budget: string) =>
    eligibleOf(images, { ...gates, ...limited(budget), holders: [] }).map(({ metadata }) => metadata.name);
  expect(names('3Gi/1d')).toEqual(['b']);
  expect(names('4Gi/1d')).toEqual(['a', 'b', 'c']);
});
