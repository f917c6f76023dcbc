import { stories } from '../revisions.ts';
import { runLocally } from '../run-locally.ts';

runLocally('revisions', stories, {
  quick: ['a requested sync downloads anew; the last snapshot stays usable until the new one is ready, then goes'],
});
