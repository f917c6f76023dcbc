import { runLocally } from '../run-locally.ts';
import { stories } from '../workspace-proposal.ts';

runLocally('what was drawn of labs', stories);
