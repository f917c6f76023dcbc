import { drift, write } from './drift.ts';
import { registry } from './registry.ts';

const root = new URL('../../', import.meta.url);
const all = await registry();
if (process.argv.includes('--check')) {
  const paths = [...(await drift(all, root)).keys()];
  for (const path of paths) console.error(`${path} differs from what it is generated from. Run "npm run generate".`);
  if (paths.length > 0) process.exitCode = 1;
} else {
  const paths = await write(all, root);
  console.log(paths.length > 0 ? `wrote ${paths.join(', ')}` : 'nothing to change');
}
