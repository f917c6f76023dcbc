import { expect, test } from 'vitest';
import type { Calls } from './calls.ts';
import { writeCosts, writesPerImage } from './write-costs.ts';

const call = (name: string, verb: string, resource: string, count: number, isDone = true): Calls => ({
  function: name,
  verb,
  resource,
  isDone,
  count,
});

const run = {
  images: 10,
  progressWrites: 5,
  calls: [
    call('start-sync', 'list', 'vmdiskimages.pelotech.ot', 99),
    call('start-sync', 'update', 'leases.coordination.k8s.io', 12),
    call('start-sync', 'update', 'leases.coordination.k8s.io', 3, false),
    call('start-sync', 'create', 'events', 10),
    call('follow-sync', 'patch', 'vmdiskimages.pelotech.ot/status', 25),
    call('follow-sync', 'delete', 'datavolumes.cdi.kubevirt.io', 10),
  ],
};

test('reads, Events, progress, refusals and the clean-up are not what an image costs until it Succeeded', () => {
  expect(writesPerImage(writeCosts(run), 'to Succeeded')).toBeCloseTo((12 + 20) / 10);
});

test('each of them is counted where it belongs', () => {
  const costs = writeCosts(run);
  expect(writesPerImage(costs, 'after Succeeded')).toBe(1);
  expect(writesPerImage(costs, 'progress')).toBe(0.5);
  expect(writesPerImage(costs, 'Events')).toBe(1);
  expect(writesPerImage(costs, 'refused')).toBeCloseTo(0.3);
});
