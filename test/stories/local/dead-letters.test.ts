import { kubectlStories, stories } from '../dead-letters.ts';
import { runLocally, runLocallyWithKubectl } from '../run-locally.ts';

runLocally('dead letters', stories, {
  quick: ['a publication that preload refuses is shown at its Trigger, without a word of its data'],
});
await runLocallyWithKubectl('dead letters', kubectlStories);
