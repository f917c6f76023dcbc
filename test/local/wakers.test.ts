import { runLocally } from '../journeys/run-locally.ts';
import { stories } from '../journeys/wakers.ts';

runLocally('wakers', stories);
