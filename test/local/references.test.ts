import { stories } from '../journeys/references.ts';
import { runLocally } from '../journeys/run-locally.ts';

runLocally('references', stories);
