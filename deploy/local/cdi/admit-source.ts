import * as z from 'zod';

const UrlSource = z.looseObject({ url: z.string().default(''), checksum: z.string().default('') });
const CloneSource = z.looseObject({ namespace: z.string().default(''), name: z.string().default('') });

const Source = z.looseObject({
  http: UrlSource.nullish(),
  s3: UrlSource.nullish(),
  gcs: UrlSource.nullish(),
  registry: z.looseObject({ url: z.string().optional(), imageStream: z.string().optional() }).nullish(),
  pvc: CloneSource.nullish(),
  snapshot: CloneSource.nullish(),
});
type Source = z.infer<typeof Source>;

const Spec = z.looseObject({
  source: Source.nullish(),
  sourceRef: z.looseObject({ kind: z.string().default(''), name: z.string().default('') }).nullish(),
  contentType: z.string().default(''),
});

/** What is wrong with where a DataVolume's data is to come from, in CDI's words. */
export function sourceProblem(input: Record<string, unknown>): string | undefined {
  const { source, sourceRef, contentType } = Spec.parse(input);
  if (Boolean(source) === Boolean(sourceRef))
    return 'Data volume should have either Source or SourceRef, or be externally populated';
  if (sourceRef) return referenceProblem(sourceRef);
  return (
    numberProblem(source ?? {}) ??
    contentTypeProblem(contentType) ??
    urlProblems(source ?? {}) ??
    cloneProblem(source ?? {})
  );
}

function referenceProblem({ kind, name }: { kind: string; name: string }) {
  if (kind === '') return 'Missing sourceRef kind';
  if (kind !== 'DataSource') return `Unsupported sourceRef kind ${kind}, currently only DataSource is supported`;
  return name === '' ? 'Missing sourceRef name' : undefined;
}

function numberProblem(source: Record<string, unknown>) {
  const number = Object.values(source).filter((one) => one !== null && one !== undefined).length;
  if (number === 0) return 'Missing Data volume source';
  return number > 1 ? 'Multiple Data volume sources' : undefined;
}

const contentTypeProblem = (contentType: string) =>
  ['', 'kubevirt', 'archive'].includes(contentType) ? undefined : 'ContentType not one of: kubevirt, archive';

function urlProblems({ http, s3, gcs, registry }: Source) {
  const source = http ?? s3 ?? gcs;
  if (source) return urlProblem(source.url) ?? (http ? checksumProblem(http.checksum) : undefined);
  return registry ? registryProblem(registry) : undefined;
}

function urlProblem(url: string) {
  if (url === '') return 'spec.source source URL is empty';
  if (!URL.canParse(url)) return `spec.source Invalid source URL: ${url}`;
  return /^(https?|gs):/.test(url) ? undefined : `spec.source Invalid source URL scheme: ${url}`;
}

function registryProblem({ url, imageStream }: { url?: string | undefined; imageStream?: string | undefined }) {
  if ((url === undefined) === (imageStream === undefined))
    return 'Source registry should have either URL or ImageStream';
  return url === undefined || /^(docker|oci-archive):/.test(url)
    ? undefined
    : `Illegal registry source URL scheme ${url}`;
}

const hexadecimalDigits: Record<string, number> = { md5: 32, sha1: 40, sha256: 64, sha512: 128 };

function checksumProblem(checksum: string) {
  if (checksum === '') return undefined;
  const cause = checksumCause(checksum);
  return cause && `Invalid checksum format: ${cause}`;
}

function checksumCause(checksum: string) {
  const separator = checksum.indexOf(':');
  if (separator < 0) return `invalid checksum format: expected 'algorithm:hash', got '${checksum}'`;
  const algorithm = checksum.slice(0, separator).trim().toLowerCase();
  const hash = checksum
    .slice(separator + 1)
    .trim()
    .toLowerCase();
  const expected = hexadecimalDigits[algorithm];
  if (hash === '') return 'checksum hash value cannot be empty';
  if (expected === undefined)
    return `unsupported hash algorithm '${algorithm}': supported algorithms are: md5, sha1, sha256, sha512`;
  if (hash.length !== expected)
    return `invalid ${algorithm} hash length: expected ${expected} hex characters, got ${hash.length}`;
  return /^[0-9a-f]+$/.test(hash) ? undefined : 'checksum hash is not valid hexadecimal: encoding/hex: invalid byte';
}

function cloneProblem({ pvc, snapshot }: Source) {
  if (pvc && !(pvc.namespace && pvc.name)) return 'spec.source.PVC source PVC is not valid';
  return snapshot && !(snapshot.namespace && snapshot.name)
    ? 'spec.source.Snapshot source snapshot is not valid'
    : undefined;
}
