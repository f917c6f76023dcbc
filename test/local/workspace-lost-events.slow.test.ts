import { runLocally } from '../journeys/run-locally.ts';
import { stories } from '../journeys/workspace-lost-events.ts';

runLocally('labs of which no event tells', stories);
