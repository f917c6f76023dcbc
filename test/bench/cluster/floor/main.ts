import { run } from '../../../../deploy/image/run.ts';
import floor from './function.ts';

await run(floor.name, async () => floor);
