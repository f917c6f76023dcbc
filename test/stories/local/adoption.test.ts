import { stories } from '../adoption.ts';
import { runLocally } from '../run-locally.ts';

runLocally('adoption', stories, {
  quick: ['an image adopts the snapshot its annotation names: ready at once, nothing is downloaded, no slot is taken'],
});
