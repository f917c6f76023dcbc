import { runLocally } from '../journeys/run-locally.ts';
import { stories } from '../journeys/workspace-mended.ts';

runLocally('what is mended of a lab', stories);
