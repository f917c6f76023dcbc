import { runLocally } from '../run-locally.ts';
import { stories } from '../workspace-networks.ts';

runLocally('networks of a lab', stories);
