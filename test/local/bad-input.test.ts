import { kubectlStories, stories } from '../journeys/bad-input.ts';
import { runLocally, runLocallyWithKubectl } from '../journeys/run-locally.ts';

runLocally('bad input', stories);
await runLocallyWithKubectl('bad input', kubectlStories);
