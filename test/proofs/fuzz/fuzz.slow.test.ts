import { expect, test } from 'vitest';
import { fuzz, runAlone, sum } from './campaign.ts';
import { mistakes } from './mistakes.ts';
import type { Plan } from './plan.ts';

const patience = 300_000;

/** A machine that asks for an image, so that each function with a mistake has something to do. */
const machine: Plan = [
  {
    do: 'create',
    kind: 'pelotech.ot/v1alpha1 VirtualMachine',
    name: 'a',
    content: {
      metadata: { labels: {}, annotations: {} },
      spec: {
        name: 'a\nruncmd: [id]',
        resources: { cpu: '1', memory: '1Gi' },
        users: [{ name: 'a', gecos: 'b\n  - c: d' }],
        vmDiskImageRef: { name: 'a', namespace: 'vmdi-farm' },
        vmDiskImageTemplate: {
          url: 'https://s3.test/images/a.qcow2',
          secretRef: 's3-reader',
          storageClass: 'gp3',
          snapshotClass: 'ebs-snapshot',
          diskSize: '1Gi',
        },
      },
    },
  },
];

test.each(mistakes)(
  'it finds that $name',
  async ({ name, judge }) => {
    expect((await runAlone(machine, name)).map((one) => one.judge)).toContain(judge);
  },
  patience,
);

test(
  'what authors write by chance breaks nothing, and most of it is accepted',
  async () => {
    const { signal } = new AbortController();
    const result = await fuzz({
      untilMs: Date.now() + patience,
      runs: 8,
      seed: 20261126,
      say: () => undefined,
      signal,
    });
    expect(result.broken).toEqual([]);
    expect(sum(result.accepted)).toBeGreaterThan(3 * sum(result.refused));
  },
  patience * 2,
);
