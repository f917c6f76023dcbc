import { stories } from '../journeys/machine-images.ts';
import { runLocally } from '../journeys/run-locally.ts';

runLocally("a machine's image", stories);
