import { runLocally } from '../run-locally.ts';
import { stories } from '../workspace-roles.ts';

runLocally('deploy roles of a lab', stories);
