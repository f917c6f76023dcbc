import { allStories, runOnReal } from './run-on-real.ts';

const { queue, deletion, revisions, preload } = allStories;

runOnReal('deployments', { queue, deletion, revisions, preload });
