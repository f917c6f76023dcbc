import { kubectlStories, stories } from '../machine-bad-input.ts';
import { runLocally, runLocallyWithKubectl } from '../run-locally.ts';

runLocally('bad input of machines', stories, {
  quick: [
    'what the schema of a machine can refuse is answered 422 with what was expected, and is not there afterwards',
  ],
});
await runLocallyWithKubectl('bad input of machines', kubectlStories);
