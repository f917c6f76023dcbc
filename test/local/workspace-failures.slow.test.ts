import { runLocally } from '../journeys/run-locally.ts';
import { stories } from '../journeys/workspace-failures.ts';

runLocally('what fails a lab', stories);
