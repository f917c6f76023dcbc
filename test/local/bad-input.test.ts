import { kubectlStories, stories } from '../journeys/bad-input.ts';
import { runLocally, runLocallyWithKubectl } from '../journeys/run-locally.ts';

runLocally('bad input', stories, {
  quick: [
    'a source the policy does not allow fails the image with SourceNotAllowed and a Warning Event; it heals when the cause goes',
  ],
});
await runLocallyWithKubectl('bad input', kubectlStories);
