import { runLocally } from '../run-locally.ts';
import { stories } from '../workspace-stuck.ts';

runLocally('labs that cannot go yet', stories);
