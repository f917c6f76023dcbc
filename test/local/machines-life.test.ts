import { stories } from '../journeys/machines-life.ts';
import { runLocally } from '../journeys/run-locally.ts';

runLocally('the life of a machine', stories);
