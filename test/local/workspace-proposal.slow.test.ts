import { runLocally } from '../journeys/run-locally.ts';
import { stories } from '../journeys/workspace-proposal.ts';

runLocally('what was drawn of labs', stories);
