import { stories } from '../restored.ts';
import { runLocally } from '../run-locally.ts';

runLocally('a restored backup', stories);
