import { expect, test } from 'vitest';
import { loadFunctions } from '../../knative/functions.ts';
import { audit, crowds, measureReads, type ReadCost } from './read-costs.ts';

/** The most that the largest crowd may cost at an event, to the smallest; at an audit that for each object. */
const mostGrowth = 1.5;

const functions = (await loadFunctions()).filter(({ part, on }) => {
  return part !== 'openstack' && on.every((subscription) => subscription.on !== 'deadLetter');
});

const row = ({ beside, count, batch, function: name, requests, bytes, cpuMs, blockMs }: ReadCost) =>
  [
    `${count} ${beside}`.padEnd(40),
    batch.padEnd(20),
    name.padEnd(18),
    `${requests}`.padStart(5),
    `${(bytes / 1000).toFixed(1)} kB`.padStart(12),
    `${cpuMs.toFixed(1)} ms`.padStart(9),
    `${blockMs.toFixed(0)} ms`.padStart(7),
  ].join(' ');

test.each([
  ['finishedImages', [10, 1000, 10_000]],
  ['runningMachines', [10, 1000]],
  ['waitingMachines', [10, 1000]],
  ['workspaces', [10, 200]],
] as const)(
  'an event costs no function more requests or bytes beside more %s, and an audit grows with them only',
  async (crowd, counts) => {
    const costs = await measureReads(crowds[crowd], functions, counts);
    console.log(['beside, batch, function: requests, bytes, CPU, longest block', ...costs.map(row)].join('\n'));
    const [fewest, most] = [counts[0], counts.at(-1) ?? 0];
    const grown = costs
      .filter(({ count }) => count === most)
      .flatMap((large) => {
        const small = costs.find(
          (cost) => cost.count === fewest && cost.batch === large.batch && cost.function === large.function,
        );
        const allowed = (large.batch === audit ? most / fewest : 1) * mostGrowth;
        // A kilobyte is nothing, however often it is more than nothing.
        const isGrown =
          (large.bytes - 1000) / (small?.bytes ?? 0) > allowed || large.requests / (small?.requests ?? 0) > allowed;
        return isGrown ? [row(large)] : [];
      });
    expect(grown).toEqual([]);
    expect(costs.some(({ batch }) => batch !== audit)).toBe(true);
  },
  300_000,
);
