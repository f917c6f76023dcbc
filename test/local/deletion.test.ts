import { stories } from '../journeys/deletion.ts';
import { runLocally } from '../journeys/run-locally.ts';

runLocally('deletion', stories, {
  quick: ['an image deleted while Syncing leaves nothing behind'],
});
