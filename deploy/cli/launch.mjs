#!/usr/bin/env node
// Runs the command with the Node.js of the project, whatever Node.js runs this file.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const binary = process.platform === 'win32' ? 'bin/node.exe' : 'bin/node';
const names = [
  `node-${process.platform.replace('win32', 'win')}-${process.arch}`,
  `node-bin-${process.platform}-${process.arch}`,
];
const brought = names.map((name) => at(`../../node_modules/${name}/${binary}`)).find((file) => existsSync(file));
if (!brought && Number.parseInt(process.versions.node, 10) < 24) {
  console.error(
    `ot-functions: expected Node 24 or later, found ${process.version}; run npm ci in ${at('../../')}, which brings one`,
  );
  process.exit(1);
}
const env = {
  // Node.js caches compiled files and checks by their contents which ones have changed.
  NODE_COMPILE_CACHE: at('../../node_modules/.cache/ot-functions'),
  ...process.env,
  OT_CALLED: basename(process.argv[1] ?? ''),
};
// kubectl completes a plugin by a command of that name.
const completes = basename(process.argv[1] ?? '').startsWith('kubectl_complete-') ? ['__complete'] : [];
const child = spawn(brought ?? process.execPath, [at('main.ts'), ...completes, ...process.argv.slice(2)], {
  stdio: 'inherit',
  env,
});
// Ctrl-C in a terminal reaches both processes; the child decides how it exits.
process.on('SIGINT', () => {});
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('close', (code, signal) => {
  if (signal) process.kill(process.pid, signal);
  else process.exit(code ?? 1);
});
