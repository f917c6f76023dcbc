import { allStories, runOnReal } from './run-on-real.ts';

runOnReal('serving', allStories);
