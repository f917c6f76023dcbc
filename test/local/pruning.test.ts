import { stories } from '../journeys/pruning.ts';
import { runLocally } from '../journeys/run-locally.ts';

runLocally('pruning', stories);
