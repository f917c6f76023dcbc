import { runLocally } from '../journeys/run-locally.ts';
import { stories } from '../journeys/taken-names.ts';

runLocally('taken names', stories);
