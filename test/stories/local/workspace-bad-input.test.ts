import { runLocally, runLocallyWithKubectl } from '../run-locally.ts';
import { kubectlStories, stories } from '../workspace-bad-input.ts';

runLocally('bad input of labs', stories, {
  quick: ['what the schema of a lab can refuse is answered 422, and is not there afterwards'],
});
await runLocallyWithKubectl('bad input of labs', kubectlStories);
