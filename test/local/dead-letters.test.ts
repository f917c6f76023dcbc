import { kubectlStories, stories } from '../journeys/dead-letters.ts';
import { runLocally, runLocallyWithKubectl } from '../journeys/run-locally.ts';

runLocally('dead letters', stories);
await runLocallyWithKubectl('dead letters', kubectlStories);
