import { run } from '../../../../deploy/run.ts';
import floor from './function.ts';

await run(floor.name, async () => floor);
