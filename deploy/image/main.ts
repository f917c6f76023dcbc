import { flushCompileCache } from 'node:module';
import type { FunctionDeclaration } from '../../shared/function.ts';
import { assertPinned } from './pinned.ts';
import { loadTelemetry, run } from './run.ts';

/** Filled in when the image is made (deploy/image/bundle.ts). */
const functions = (process.env.OT_FUNCTIONS ?? '').split(',').filter(Boolean);

/** What runs beside the functions, each a process of its own kind. */
const programs: Readonly<Record<string, () => Promise<{ run(): Promise<void> }>>> = {
  gateway: () => import('../gateway/main.ts'),
  console: () => import('../console/main.ts'),
  'pre-delete': () => hook('beforeDelete'),
  'post-upgrade': () => hook('afterUpgrade'),
  'helm-test': () => hook('assertReady'),
};

/** What Helm runs (deploy/production/helm-hooks.ts). */
async function hook(name: 'beforeDelete' | 'afterUpgrade' | 'assertReady') {
  const hooks = await import('../cli/install/hooks.ts');
  return { run: () => hooks.runHook(hooks[name]) };
}

async function load(name: string): Promise<FunctionDeclaration> {
  const module: { default: FunctionDeclaration } = await import(`../../functions/${name}/index.ts`);
  return module.default;
}

/** Loads all code once, so that its compiled form is in the image and no pod compiles it again. */
async function compile() {
  assertPinned(process.env);
  await Promise.all([loadTelemetry(), ...Object.values(programs).map((load) => load()), ...functions.map(load)]);
  flushCompileCache();
  process.exit();
}

const [name = ''] = process.argv.slice(2);
if (name === '--compile') await compile();
else if (functions.includes(name)) await run(name, () => load(name));
else if (Object.hasOwn(programs, name)) await (await programs[name]?.())?.run();
else {
  console.error(`expected ${[...functions, ...Object.keys(programs)].join(', ')}; found ${name || 'nothing'}`);
  process.exitCode = 2;
}
