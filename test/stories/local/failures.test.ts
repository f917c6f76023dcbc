import { stories } from '../failures.ts';
import { runLocally } from '../run-locally.ts';

runLocally('failures', stories, {
  quick: [
    'a download that is cut off twice is tried again and succeeds at its third attempt',
    'a download that always breaks costs retryLimit + 1 attempts and no more',
  ],
});
