import { defineConfig } from 'vitest/config';
import { sequencerOf } from '../support/tools/sequencer.ts';

/**
 * One file after the other, for all share one cluster: first what wants it untouched, then the stories with what looks at
 * the traces they left and at what was asked of the API server, then what takes all away, last what kills processes of the
 * cluster: no other test is to depend on what remains of one.
 */
const order = [
  'contract',
  'manifests',
  'eventing',
  'versitygw-store',
  'write-points',
  'stories',
  'console',
  'traces',
  'permissions',
  'sleeping',
  'internal-gateway',
  'inspection',
  'doctor',
  'machine-scale',
  'workspace-scale',
  'deployments',
  'attacks',
  'gateway',
  'oidc',
  'openstack',
  'mass-deletion',
  'upgrade',
  'release',
  'install',
  'kills',
  'soak',
].flatMap((name) => [name, `${name}.slow`]);

/** Of a CI run, which takes a ninth of the others (`--shard`): the stories, what they were refused, and what nothing may break. */
const inEachPart = ['stories', 'permissions', 'soak'];

const slow = 'test/cluster/**/*.slow.test.ts';

/**
 * The tests that need a real cluster; `test/cluster/run` brings one up for them. `--mode slow` runs all of what
 * a CI run takes a part of, and what takes longer than it may.
 */
export default defineConfig(({ mode }) => ({
  test: {
    include: mode === 'slow' ? [slow] : ['test/cluster/**/*.test.ts'],
    exclude: mode === 'slow' ? [] : [slow],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    fileParallelism: false,
    sequence: { sequencer: sequencerOf(order, { inEachPart }) },
  },
}));
