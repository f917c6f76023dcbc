import { stories } from '../journeys/revisions.ts';
import { runLocally } from '../journeys/run-locally.ts';

runLocally('revisions', stories, {
  quick: ['a requested sync downloads anew; the last snapshot stays usable until the new one is ready, then goes'],
});
