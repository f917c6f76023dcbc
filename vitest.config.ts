import { defineConfig } from 'vitest/config';

const everything = '{functions,shared,crds,knative,deploy,test}/**/*.test.ts';
const slow = '**/*.slow.test.ts';

/**
 * `npm test` leaves out what is slow for what it is (whole commands, 200 images, each tick of a simulator), which is
 * what `npm run test:slow` runs. CI runs both.
 */
export default defineConfig(({ mode }) => ({
  test: {
    include: mode === 'slow' ? [slow] : [everything],
    exclude: ['node_modules/**', 'test/cluster/**', ...(mode === 'slow' ? [] : [slow])],
    testTimeout: 20_000,
    // No file leaves anything behind, and loading the client library anew for each would cost a third of the time.
    isolate: false,
    // A story has a whole cluster to itself, and half of it is waiting for timers.
    maxWorkers: 2,
    maxConcurrency: 4,
  },
}));
