import { subjects } from '../all.ts';
import { runLocally } from '../run-locally.ts';

await runLocally(subjects.workspaces);
