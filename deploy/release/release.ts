import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { policyName } from '../../shared/policy.ts';
import { withImage } from '../cli/install/manifests.ts';
import { bundle } from '../image/bundle.ts';
import { generatedFolders, inInstallOrder, readManifests } from '../manifests.ts';
import { documentOf } from '../yaml-text.ts';
import { tarGzipOf } from './archive.ts';
import { chartArchive, chartLayout, sha256 } from './chart-archive.ts';
import { bundleCommand } from './command.ts';
import { krewManifest } from './krew.ts';
import { manifestFiles } from './manifest-files.ts';
import { releaseNotes } from './notes.ts';

const root = new URL('../../', import.meta.url);

/** What a release is made of besides the files of the checkout. */
export interface ReleaseOptions {
  version: string;
  /** The image of the functions, in a real release by its digest. */
  image: string;
  /** Where the files will be, without a slash at the end. */
  url: string;
  /** The modification time of all files, in seconds since 1970. */
  atS: number;
  commits: Parameters<typeof releaseNotes>[2];
}

/** All files of a release by their names: a new one goes here. The same checkout and options give the same bytes. */
export async function releaseFiles(options: ReleaseOptions): Promise<Map<string, string | Buffer>> {
  const { version, image, atS } = options;
  const manifests = await manifestFiles(image);
  const command = await bundleCommand(image, manifests);
  const chart = await chartArchive(version, image, atS);
  const [license, readme, changelog, policy] = await Promise.all([
    textOf('LICENSE'),
    textOf('README.md'),
    textOf('CHANGELOG.md'),
    textOf('deploy/base/policy.yaml'),
  ]);
  const program = { name: 'ot-functions.mjs', content: command.text, isProgram: true };
  const plugin = tarGzipOf([program, { name: 'LICENSE', content: license }], atS);
  const pluginName = `kubectl-ot-${version}.tar.gz`;
  const files = new Map<string, string | Buffer>([
    ['install.yaml', await installFile('serving', image)],
    ['install-deployments.yaml', await installFile('deployments', image)],
    ['crds.yaml', (await readManifests('crds')).map(documentOf).join('---\n')],
    ['policy.yaml', policy],
    ['ot-functions.mjs', command.text],
    [pluginName, plugin],
    ['ot.yaml', krewManifest(version, `${options.url}/${pluginName}`, sha256(plugin))],
    [
      `ot-functions-npm-${version}.tgz`,
      tarGzipOf(
        [
          { ...program, name: 'package/ot-functions.mjs' },
          { name: 'package/package.json', content: await npmPackage(version) },
          { name: 'package/README.md', content: readme },
          { name: 'package/LICENSE', content: license },
        ],
        atS,
      ),
    ],
    [`ot-functions-${version}.tgz`, chart],
    [`ot-functions-chart-${version}.oci.tar`, await chartLayout(chart, version, atS)],
    [
      `ot-functions-manifests-${version}.tar.gz`,
      tarGzipOf(
        [...manifests].map(([name, content]) => ({ name: `ot-functions-${version}/${name}`, content })),
        atS,
      ),
    ],
    ['sbom-image.cdx.json', await imageSbom()],
    ['sbom-command.cdx.json', command.sbom],
    ['NOTES.md', releaseNotes(version, changelog, options.commits)],
  ]);
  const sums = [...files]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, content]) => `${sha256(content)}  ${name}\n`);
  return files.set('SHA256SUMS', sums.join(''));
}

const textOf = (name: string) => readFile(new URL(name, root), 'utf8');

/** Everything for `kubectl apply --server-side -f`, definitions and namespace first; the policy is the admin's, in a file of its own. */
async function installFile(overlay: 'serving' | 'deployments', image: string): Promise<string> {
  const objects = await readManifests('crds', 'deploy/base', ...generatedFolders, `knative/${overlay}`);
  const withoutPolicy = objects.filter(({ metadata }) => metadata.name !== policyName);
  return inInstallOrder(withImage(withoutPolicy, image)).map(documentOf).join('---\n');
}

async function imageSbom(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ot-release-'));
  try {
    await bundle(folder);
    return await readFile(join(folder, 'sbom.cdx.json'), 'utf8');
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The command line's package: it has no dependencies, for they are in the file. */
async function npmPackage(version: string): Promise<string> {
  const { name, description, license, repository } = JSON.parse(await textOf('package.json'));
  const bin = Object.fromEntries(
    ['ot-functions', 'kubectl-ot', 'kubectl_complete-ot'].map((command) => [command, 'ot-functions.mjs']),
  );
  return JSON.stringify(
    { name, version, description, license, repository, bin, engines: { node: '>=24' } },
    undefined,
    2,
  );
}
