import { timingSafeEqual } from 'node:crypto';
import { s3Errors } from './s3-error.ts';
import { type KeyPair, parseAmzDate, type SignableRequest, signatureOf, unsignedPayload } from './sigv4.ts';

/** Whom an object store knows, and whose region it is in (any, when it does not say). */
export interface Access {
  keys: readonly KeyPair[];
  region?: string | undefined;
}

/** Accepts a request signed by a known key, in its header or URL; otherwise throws the S3Error that S3 answers. */
export function verifySignature(request: SignableRequest, access: Access, nowMs: number): void {
  const claim = request.headers.authorization ? headerClaim(request) : queryClaim(request);
  const [accessKeyId = '', day = '', region = '', service = '', end = ''] = claim.credential.split('/');
  if (service !== 's3' || end !== 'aws4_request') {
    throw s3Errors.malformedHeader(`expected a credential scope of s3/aws4_request, found ${service}/${end}`);
  }
  if (access.region && region !== access.region) {
    throw s3Errors.malformedHeader(`the region '${region}' is wrong; expecting '${access.region}'`);
  }
  const key = access.keys.find((known) => known.accessKeyId === accessKeyId);
  if (!key) throw s3Errors.unknownKey();
  const timeMs = parseAmzDate(claim.date);
  if (Number.isNaN(timeMs) || !claim.date.startsWith(day)) throw s3Errors.accessDenied();
  if (nowMs > timeMs + claim.validMs || nowMs < timeMs - allowedSkewMs) throw claim.late();
  if (!claim.signedHeaders.includes('host')) throw s3Errors.malformedHeader("the header 'host' must be signed");
  const expected = signatureOf(
    request,
    claim.signedHeaders,
    key.secretKey,
    { region, service, timeMs },
    claim.payloadHash,
  );
  if (!isSame(expected, claim.signature)) throw s3Errors.badSignature();
}

/** Lets a request pass whose user name and password are one of the known keys; throws S3's refusal otherwise. */
export function verifyBasic(authorization: string | undefined, { keys }: Access): void {
  const given = Buffer.from(authorization?.replace(/^Basic /i, '') ?? '', 'base64').toString();
  if (!keys.some((key) => isSame(`${key.accessKeyId}:${key.secretKey}`, given))) throw s3Errors.ofStatus(401);
}

interface Claim {
  credential: string;
  signedHeaders: string[];
  signature: string;
  date: string;
  payloadHash: string;
  validMs: number;
  late: () => Error;
}

const allowedSkewMs = 15 * 60_000;

function headerClaim({ headers }: SignableRequest): Claim {
  const { authorization = '' } = headers;
  const fields = Object.fromEntries(
    authorization
      .replace(/^AWS4-HMAC-SHA256\s+/, '')
      .split(/,\s*/)
      .map((field) => [field.split('=', 1)[0] ?? '', field.slice(field.indexOf('=') + 1)]),
  );
  const { Credential: credential, SignedHeaders: signed, Signature: signature } = fields;
  if (!authorization.startsWith('AWS4-HMAC-SHA256') || !credential || !signed || !signature) {
    throw s3Errors.malformedHeader('expected AWS4-HMAC-SHA256 with Credential, SignedHeaders and Signature');
  }
  const payloadHash = headers['x-amz-content-sha256'];
  if (!payloadHash) throw s3Errors.missingHeader('x-amz-content-sha256');
  const date = headers['x-amz-date'] ?? '';
  const signedHeaders = signed.split(';');
  return { credential, signedHeaders, signature, date, payloadHash, validMs: allowedSkewMs, late: s3Errors.tooSkewed };
}

function queryClaim({ query = '' }: SignableRequest): Claim {
  const fields = new URLSearchParams(query);
  const signature = fields.get('X-Amz-Signature');
  if (!signature) throw s3Errors.accessDenied();
  return {
    credential: fields.get('X-Amz-Credential') ?? '',
    signedHeaders: (fields.get('X-Amz-SignedHeaders') ?? '').split(';'),
    signature,
    date: fields.get('X-Amz-Date') ?? '',
    payloadHash: unsignedPayload,
    validMs: Number(fields.get('X-Amz-Expires')) * 1000,
    late: s3Errors.accessDenied,
  };
}

function isSame(expected: string, found: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(found)];
  return a.length === b.length && timingSafeEqual(a, b);
}
