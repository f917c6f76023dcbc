import { stories } from '../journeys/failures.ts';
import { runLocally } from '../journeys/run-locally.ts';

runLocally('failures', stories);
