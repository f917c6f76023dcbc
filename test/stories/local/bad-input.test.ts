import { kubectlStories, stories } from '../bad-input.ts';
import { runLocally, runLocallyWithKubectl } from '../run-locally.ts';

runLocally('bad input', stories, {
  quick: [
    'a source the policy does not allow fails the image with SourceNotAllowed and a Warning Event; it heals when the cause goes',
  ],
});
await runLocallyWithKubectl('bad input', kubectlStories);
