import { basename } from 'node:path';

// The entry point of the bundled command line, which does what launch.mjs does in a checkout.
const called = basename(process.argv[1] ?? '');
if (Number.parseInt(process.versions.node, 10) < 24) {
  console.error(`${called}: expected Node 24 or later, found ${process.version}; install one from https://nodejs.org`);
  process.exit(1);
}
process.env.OT_CALLED ??= called;
// kubectl completes a plugin by a command of that name.
if (called.startsWith('kubectl_complete-')) process.argv.splice(2, 0, '__complete');
await import('./main.ts');
