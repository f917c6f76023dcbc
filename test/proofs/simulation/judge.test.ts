import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { History } from '../invariants/history.ts';
import { plans } from './arbitrary.ts';
import { bugs } from './bugs.ts';
import { journeys } from './journeys.ts';
import { judge, judgeQuickly } from './judge.ts';
import { type Sabotage, simulate } from './simulate.ts';

// Functions log the injected faults.
const log = vi.spyOn(console, 'error');
beforeAll(() => void log.mockImplementation(() => undefined));
afterAll(() => log.mockRestore());

const plan = { ...journeys['an image is created and deleted'], seed: 1 };

describe('a run over an API server that checks no write', () => {
  const withoutManagers = ({ changes, endMs }: History) => ({
    endMs,
    changes: changes.map(({ object, ...change }) => {
      const { managedFields: _, ...metadata } = object.metadata;
      return { ...change, object: { ...object, metadata } };
    }),
  });

  test('is the same, write for write, but for managedFields', async () => {
    const sample = fc.sample(plans(), { seed: 3, numRuns: 30 });
    const publishing = sample.filter(({ operations }) => operations.some((operation) => operation.do === 'publish'));
    expect(publishing.length).toBeGreaterThan(3);
    for (const each of [...sample.slice(0, 8), ...publishing, journeys['an image that a pipeline publishes']]) {
      const [checked, thin] = [await simulate(each), await simulate(each, {}, true)];
      expect(withoutManagers(thin.history)).toEqual(withoutManagers(checked.history));
    }
  }, 120_000);

  test('breaks nothing if the API server would have refused what it wrote', async () => {
    const sabotage: Sabotage = {
      through: (kube, name) => {
        let isFirst = name === 'follow-sync';
        return {
          ...kube,
          patch: (resource, ref, body, options) => {
            const isBroken = isFirst && resource.kind === VMDiskImage.kind;
            if (isBroken) isFirst = false;
            return kube.patch(resource, ref, isBroken ? { status: { phase: 'Broken' } } : body, options);
          },
        };
      },
    };
    expect((await judge(plan, sabotage, true)).violations).not.toEqual([]);
    const { isThin, violations, unconfirmed } = await judgeQuickly(plan, sabotage);
    expect({ isThin, violations }).toEqual({ isThin: false, violations: [] });
    expect(unconfirmed).not.toEqual([]);
  });

  test('is judged again over a full API server if it breaks something', async () => {
    const bug = bugs.find(({ name }) => name === 'a machine is never created in KubeVirt');
    const { isThin, violations, unconfirmed } = await judgeQuickly({ ...plan, ...bug?.plan, seed: 1 }, bug?.sabotage);
    expect({ isThin, unconfirmed }).toEqual({ isThin: false, unconfirmed: undefined });
    expect(violations).not.toEqual([]);
  });
});

test('every twentieth plan is judged only over an API server that checks every write', async () => {
  expect((await judgeQuickly(plan)).isThin).toBe(true);
  expect((await judgeQuickly({ ...journeys['an image that a pipeline publishes'], seed: 1 })).isThin).toBe(true);
  expect((await judgeQuickly({ ...plan, seed: 40 })).isThin).toBe(false);
});
