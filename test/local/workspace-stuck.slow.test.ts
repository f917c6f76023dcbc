import { runLocally } from '../journeys/run-locally.ts';
import { stories } from '../journeys/workspace-stuck.ts';

runLocally('labs that cannot go yet', stories);
