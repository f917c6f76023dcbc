import { execFile } from 'node:child_process';
import { mkdtemp, readFile, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { programOf } from './commands.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

export interface Release {
  /** Its files. */
  folder: string;
  /** Its image, which the cluster has. */
  image: string;
}

/** Builds an earlier commit of this checkout; undefined if its history does not contain it. */
export async function buildReleaseBefore(commit: string): Promise<Release | undefined> {
  const cluster = process.env.OT_CLUSTER_HARNESS;
  const isKnown = await run('git', ['-C', root, 'cat-file', '-e', `${commit}^{commit}`]).then(
    () => true,
    () => false,
  );
  if (!cluster || !isKnown) return undefined;
  const folder = await mkdtemp(join(tmpdir(), 'ot-release-before-'));
  await run('sh', ['-c', `git -C "$1" archive ${commit} | tar -x -C "$2"`, 'sh', root, folder]);
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  const { scripts } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const build = programOf(scripts.build);
  await run(process.execPath, [build], { cwd: folder });
  const image = 'localhost/ot-functions:before';
  const base = ['--build-arg', 'BASE=localhost/node:24'];
  await run(join(cluster, 'image'), [image, join(dirname(build), 'Dockerfile'), '.', ...base], { cwd: folder });
  return { folder, image };
}
