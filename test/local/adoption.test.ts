import { stories } from '../journeys/adoption.ts';
import { runLocally } from '../journeys/run-locally.ts';

runLocally('adoption', stories);
