import { stories } from '../queue.ts';
import { runLocally } from '../run-locally.ts';

runLocally('queue', stories, {
  quick: [
    'images sync in the order of their creation, never more than two at once, and become ready',
    'concurrency 0 pauses the queue; a raised limit lets the next in at once',
  ],
});
