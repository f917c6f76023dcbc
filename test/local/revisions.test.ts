import { stories } from '../journeys/revisions.ts';
import { runLocally } from '../journeys/run-locally.ts';

runLocally('revisions', stories);
