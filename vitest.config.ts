import { defineConfig } from 'vitest/config';
import { sequencerOf } from './test/support/tools/sequencer.ts';

const everything = '{functions,shared,crds,knative,deploy,test}/**/*.test.ts';
const slow = '**/*.slow.test.ts';
const long = '**/*.long.test.ts';
const stories = 'test/stories/local/**/*.test.ts';

/** What a mode runs; `npm test` is that of no name. */
const included = (mode: string) => (mode === 'long' ? [long] : mode === 'slow' ? [slow, stories] : [everything]);

const isQuick = (mode: string) => mode !== 'slow' && mode !== 'long';

/**
 * The longest files, the longest first: begun last they would be waited for alone, and neighbours go to different parts of a
 * CI run (`--shard`). What a checkout has run before is not known to a new one.
 */
const longest = [
  'simulation/simulation',
  ...['workspace-faults', 'machines', 'workspaces', 'images', 'input', 'references'].map(
    (name) => `stories/local/${name}`,
  ),
];

/**
 * `npm test` runs what a change most likely breaks, in about a minute. What is slow for what it is (whole commands, each tick
 * of a simulator) and the stories that are not `quick` are what `npm run test:slow` runs; CI runs the first and
 * a ninth of the second, another ninth with each commit.
 * `npm run test:long` has what a CI run has no time for: hundreds of images and machines at once, all rules of permissions
 * proven needed one by one, restarts. Each test is in one of the three.
 */
export default defineConfig(({ mode }) => ({
  test: {
    include: included(mode),
    exclude: [
      'node_modules/**',
      'test/cluster/**',
      ...(isQuick(mode) ? [slow] : []),
      ...(mode === 'long' ? [] : [long]),
    ],
    testTimeout: 20_000,
    // No file leaves anything behind, and loading the client library again for each would cost a third of the time.
    isolate: false,
    // A story has a whole cluster to itself, and half of it is waiting for timers: two more of them than two cores run. What is
    // slow keeps its core, or time limits are met.
    maxWorkers: isQuick(mode) ? 4 : 2,
    maxConcurrency: 4,
    sequence: { sequencer: sequencerOf(longest) },
  },
}));
