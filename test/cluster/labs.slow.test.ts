import { allLabs, runOnReal } from './run-on-real.ts';

runOnReal('serving', allLabs);
