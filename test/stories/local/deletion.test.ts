import { stories } from '../deletion.ts';
import { runLocally } from '../run-locally.ts';

runLocally('deletion', stories, {
  quick: ['an image deleted while Syncing leaves nothing behind'],
});
