import { kubectlStories, stories } from '../journeys/machine-bad-input.ts';
import { runLocally, runLocallyWithKubectl } from '../journeys/run-locally.ts';

runLocally('bad input of machines', stories);
await runLocallyWithKubectl('bad input of machines', kubectlStories);
