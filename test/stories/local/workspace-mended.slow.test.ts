import { runLocally } from '../run-locally.ts';
import { stories } from '../workspace-mended.ts';

runLocally('what is mended of a lab', stories);
