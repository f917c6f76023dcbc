import { runOnReal, smokeStories } from './run-on-real.ts';

runOnReal('serving', smokeStories);
