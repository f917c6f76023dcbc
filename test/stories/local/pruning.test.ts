import { stories } from '../pruning.ts';
import { runLocally } from '../run-locally.ts';

runLocally('pruning', stories, {
  quick: ['an image that nobody uses goes after pruneAfter, with its snapshot, and an Event says why'],
});
