/** What package-lock.json says of a package. */
interface Locked {
  version?: string;
  integrity?: string;
  license?: string;
}

interface Package {
  name: string;
  version: string;
}

/**
 * What of other people's packages is in a bundle, as a CycloneDX document: those of package-lock.json that the bundle's input files are
 * of. `npm sbom --omit=dev` leaves out what development tools use too.
 */
export function sbomOf(inputs: readonly string[], own: Package, locked: Readonly<Record<string, Locked>>) {
  const places = new Set(
    inputs.map((file) => /node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0]),
  );
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { type: 'application', ...identityOf(own) } },
    components: [...places]
      .filter((place) => place !== undefined)
      .sort()
      .map((place) => componentOf(place, locked[place])),
  };
}

function componentOf(place: string, { version, integrity = '', license }: Locked = {}) {
  const [algorithm, digest] = integrity.split('-');
  if (version === undefined || algorithm !== 'sha512' || digest === undefined)
    throw new Error(`expected version and sha512 of ${place} in package-lock.json, found ${version} and ${integrity}`);
  return {
    type: 'library',
    ...identityOf({ name: place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length), version }),
    hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }],
    ...(license ? { licenses: [{ expression: license }] } : {}),
  };
}

function identityOf({ name, version }: Package) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return { 'bom-ref': purl, name, version, purl };
}
