import { runLocally } from '../run-locally.ts';
import { stories } from '../scale.ts';

runLocally('scale', stories);
