import { defineConfig } from 'vitest/config';

/** The tests that need a real cluster; `test/cluster/run` brings one up for them. */
export default defineConfig({
  test: { include: ['test/cluster/**/*.test.ts'], testTimeout: 60_000, hookTimeout: 60_000 },
});
