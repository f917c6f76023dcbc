import { stories } from '../journeys/queue.ts';
import { runLocally } from '../journeys/run-locally.ts';

runLocally('queue', stories);
