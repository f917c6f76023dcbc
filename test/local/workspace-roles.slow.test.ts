import { runLocally } from '../journeys/run-locally.ts';
import { stories } from '../journeys/workspace-roles.ts';

runLocally('deploy roles of a lab', stories);
