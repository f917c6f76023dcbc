import { runLocally } from '../run-locally.ts';
import { stories } from '../workspace-failures.ts';

runLocally('what fails a lab', stories);
