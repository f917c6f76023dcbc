import { stories } from '../journeys/machine-failures.ts';
import { runLocally } from '../journeys/run-locally.ts';

runLocally('what fails a machine', stories);
