import { ofEachRun, runOnReal } from './run-on-real.ts';

runOnReal('serving', ofEachRun);
