import { kubectlStories, stories } from '../journeys/dead-letters.ts';
import { runLocally, runLocallyWithKubectl } from '../journeys/run-locally.ts';

runLocally('dead letters', stories, {
  quick: ['a publication that preload refuses is shown at its Trigger, without a word of its data'],
});
await runLocallyWithKubectl('dead letters', kubectlStories);
