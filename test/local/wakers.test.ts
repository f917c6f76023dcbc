import { runLocally } from '../journeys/run-locally.ts';
import { stories } from '../journeys/wakers.ts';

runLocally('wakers', stories, {
  quick: ['with every event dropped the audit alone takes a deleted image down'],
});
