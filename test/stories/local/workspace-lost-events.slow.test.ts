import { runLocally } from '../run-locally.ts';
import { stories } from '../workspace-lost-events.ts';

runLocally('labs of which no event tells', stories);
