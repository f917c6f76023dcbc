import project from '../../package.json' with { type: 'json' };
import { documentOf } from '../yaml-text.ts';

const platforms = ['linux/amd64', 'linux/arm64', 'darwin/amd64', 'darwin/arm64'];

/** The manifest from which `kubectl krew install` gets the command line, whose archive has that name and SHA-256. */
export const krewManifest = (version: string, url: string, sha256: string): string =>
  documentOf({
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'ot' },
    spec: {
      version: `v${version}`,
      homepage: project.homepage,
      shortDescription: 'Disk images, machines and labs of Open Terrain',
      description:
        'Shows what downloads, waits or has failed and why, preloads images, finds what is wrong with an installation, and installs, upgrades and uninstalls ot-functions.\n',
      caveats: 'It needs Node.js 24 or later on the PATH; install and upgrade also need kubectl.\n',
      platforms: platforms.map((platform) => {
        const [os, arch] = platform.split('/');
        return {
          selector: { matchLabels: { os, arch } },
          uri: url,
          sha256,
          files: [
            { from: 'ot-functions.mjs', to: '.' },
            { from: 'LICENSE', to: '.' },
          ],
          bin: 'ot-functions.mjs',
        };
      }),
    },
  });
