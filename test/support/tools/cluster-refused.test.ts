import { spawn } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** A kubectl that answers what a cluster with these objects would, and keeps what it was asked. */
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ot-refused-'));
  const script = `#!/bin/sh
echo "$*" >>${folder}/asked
case "$*" in
  *deployments*) echo "$DEPLOYMENTS" ;;
  *namespaces*) echo "$NAMESPACES" ;;
esac
`;
  await writeFile(join(folder, 'kubectl'), script);
  await chmod(join(folder, 'kubectl'), 0o755);
});
afterAll(() => rm(folder, { recursive: true }));

test.each([
  ['a real CDI', { DEPLOYMENTS: 'deployment.apps/cdi-deployment' }, 'cdi-deployment'],
  ['our own installation', { NAMESPACES: 'namespace/sync-operator' }, 'namespace/sync-operator'],
])('on a cluster with %s no story runs, and nothing is deleted', async (_, found, named) => {
  await rm(join(folder, 'asked'), { force: true });
  const env = {
    ...process.env,
    ...found,
    PATH: [folder, process.env.PATH].join(delimiter),
    OT_KUBECONFIG: join(folder, 'kubeconfig'),
    OT_IMAGE: 'none',
  };
  const child = spawn(fileURLToPath(new URL('../../cluster/run', import.meta.url)), { env });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  expect(code).toBe(1);
  expect(said).toContain(named);
  expect(await readFile(join(folder, 'asked'), 'utf8')).not.toMatch(/delete|patch|apply/);
});
