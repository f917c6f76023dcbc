import { runLocally } from '../journeys/run-locally.ts';
import { stories } from '../journeys/workspace-networks.ts';

runLocally('networks of a lab', stories);
