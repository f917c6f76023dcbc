import { runLocally } from '../run-locally.ts';
import { stories } from '../subscriptions.ts';

runLocally('subscriptions', stories, {
  quick: ['with every event dropped the audit alone takes a deleted image down'],
});
