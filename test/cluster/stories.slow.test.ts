import { allStories } from '../stories/all.ts';
import { runOnReal } from './run-on-real.ts';

runOnReal('serving', allStories);
