import { stories } from '../journeys/restored.ts';
import { runLocally } from '../journeys/run-locally.ts';

runLocally('a restored backup', stories);
