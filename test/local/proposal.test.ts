import { stories } from '../journeys/proposal.ts';
import { runLocally } from '../journeys/run-locally.ts';

runLocally('what was proposed and asked', stories);
