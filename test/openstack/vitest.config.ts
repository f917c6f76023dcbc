import { defineConfig } from 'vitest/config';
import { sequencerOf } from '../support/tools/sequencer.ts';

/** What takes the better part of an hour on real services, which do one thing at a time. */
const long = 'test/openstack/{crashes.slow,permissions.long}.test.ts';

/** The longest first: neighbours go to different parts of a CI run (`--shard`), so that no part has two of the longest. */
const order = [
  ...['faults.slow', 'credentials.slow', 'machines-life', 'changes.slow', 'shared.slow', 'contract'],
  ...['outages.slow', 'traces.slow', 'images.slow', 'columns.slow', 'networks.slow', 'adoption.slow'],
  ...['contract-differences', 'revoked-token.slow', 'telemetry.slow'],
].map((name) => `openstack/${name}`);

/** The contract with OpenStack and the stories on it, on the services that OS_AUTH_URL names; `test/openstack/run` brings some up. */
export default defineConfig(({ mode }) => ({
  test: {
    include: ['test/openstack/**/*.test.ts'],
    exclude: mode === 'long' ? [] : [long],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 1,
    maxConcurrency: 16,
    sequence: { sequencer: sequencerOf(order) },
  },
}));
