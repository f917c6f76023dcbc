import { stories } from '../journeys/machine-deletion.ts';
import { runLocally } from '../journeys/run-locally.ts';

runLocally('deletion of machines and images', stories);
