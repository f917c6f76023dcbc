import { defineConfig } from 'vitest/config';
import { beginWith } from '../begin-with.ts';

/** What takes the better part of an hour on real services, which do one thing at a time. */
const long = 'test/openstack/{crashes.slow,permissions.long}.test.ts';

/** The longest first, and so that each part (`--shard`), which a CI run takes, is about as long as the others. */
const order = [
  ...['faults.slow', 'credentials.slow', 'machines-life'],
  ...['revoked-token.slow', 'changes.slow', 'shared.slow'],
  ...['columns.slow', 'images.slow', 'contract'],
  ...['telemetry.slow', 'traces.slow', 'networks.slow'],
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
    sequence: { sequencer: beginWith(order) },
  },
}));
