import { defineConfig } from 'vitest/config';
import { beginWith } from './test/begin-with.ts';

const everything = '{functions,shared,crds,knative,deploy,test}/**/*.test.ts';
const slow = '**/*.slow.test.ts';
const stories = 'test/local/**/*.test.ts';

/** The longest of all: begun last it would be waited for alone. What a checkout has run before is not known to a new one. */
const longest = 'simulation/simulation';

/**
 * `npm test` runs what a change most likely breaks, in about a minute. What is slow for what it is (whole commands, 200
 * images, each tick of a simulator) and the stories that are not named as quick (test/local) are what `npm run test:slow`
 * runs. Each test is in one of the two, and CI runs both.
 */
export default defineConfig(({ mode }) => ({
  test: {
    include: mode === 'slow' ? [slow, stories] : [everything],
    exclude: ['node_modules/**', 'test/cluster/**', ...(mode === 'slow' ? [] : [slow])],
    testTimeout: 20_000,
    // No file leaves anything behind, and loading the client library anew for each would cost a third of the time.
    isolate: false,
    // A story has a whole cluster to itself, and half of it is waiting for timers.
    maxWorkers: 2,
    maxConcurrency: 4,
    sequence: { sequencer: beginWith(longest) },
  },
}));
