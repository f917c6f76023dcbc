import { stories } from '../journeys/kubectl.ts';
import { runLocallyWithKubectl } from '../journeys/run-locally.ts';

await runLocallyWithKubectl("a person's day", stories);
