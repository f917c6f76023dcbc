import { kubectlStories, stories } from '../machine-deletion.ts';
import { runLocally, runLocallyWithKubectl } from '../run-locally.ts';

runLocally('deletion of machines and images', stories, {
  quick: ['the image first: it stays with its snapshot, says who holds it, and goes with the last of them'],
});

await runLocallyWithKubectl('deletion of images', kubectlStories);
