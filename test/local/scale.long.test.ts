import { runLocally } from '../journeys/run-locally.ts';
import { stories } from '../journeys/scale.ts';

runLocally('scale', stories);
