import { stories } from '../journeys/adoption.ts';
import { runLocally } from '../journeys/run-locally.ts';

runLocally('adoption', stories, {
  quick: ['an image adopts the snapshot its annotation names: ready at once, nothing is downloaded, no slot is taken'],
});
