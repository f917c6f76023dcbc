import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import project from '../../package.json' with { type: 'json' };
import { exampleImage } from '../image/image-name.ts';
import { releaseFiles } from './release.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const { version, homepage } = project;

const { values } = parseArgs({
  options: {
    image: { type: 'string' },
    url: { type: 'string' },
    tag: { type: 'string' },
    output: { type: 'string', default: join(root, 'release') },
  },
});
if (values.tag !== undefined && values.tag !== `v${version}`)
  throw new Error(`expected the tag v${version}, the version in package.json, found ${values.tag}`);
if (values.tag !== undefined && !/@sha256:[0-9a-f]{64}$/.test(values.image ?? ''))
  throw new Error(`expected --image with the digest of the released image, found ${values.image ?? 'none'}`);

const since = await git('describe', '--tags', '--abbrev=0', '--match', 'v*', 'HEAD^').catch(() => undefined);
const files = await releaseFiles({
  version,
  image: values.image ?? exampleImage,
  url: values.url ?? `${homepage}/releases/download/v${version}`,
  // https://reproducible-builds.org/specs/source-date-epoch
  atS: Number(process.env.SOURCE_DATE_EPOCH || (await git('log', '-1', '--format=%ct'))),
  commits: { since, titles: since ? (await git('log', '--format=%s', `${since}..HEAD`)).split('\n') : [] },
});
await rm(values.output, { recursive: true, force: true });
await mkdir(values.output, { recursive: true });
for (const [name, content] of files) {
  await writeFile(join(values.output, name), content, { mode: name.endsWith('.mjs') ? 0o755 : 0o644 });
  console.log(`${join(values.output, name)} ${Buffer.byteLength(content)} bytes`);
}

async function git(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('git', args, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
  return stdout.trim();
}
