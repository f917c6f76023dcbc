import { runLocally } from '../journeys/run-locally.ts';
import { stories } from '../journeys/subscriptions.ts';

runLocally('subscriptions', stories, {
  quick: ['with every event dropped the audit alone takes a deleted image down'],
});
