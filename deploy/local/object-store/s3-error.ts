/** An answer of S3 other than success: its HTTP status, its code and a message. */
export class S3Error extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.name = 'S3Error';
    this.status = status;
    this.code = code;
  }
}

/** The refusals that S3 gives, in its own words (Amazon S3, "Error responses"). */
export const s3Errors = {
  accessDenied: () => new S3Error(403, 'AccessDenied', 'Access Denied'),
  unknownKey: () =>
    new S3Error(403, 'InvalidAccessKeyId', 'The AWS Access Key Id you provided does not exist in our records.'),
  badSignature: () =>
    new S3Error(
      403,
      'SignatureDoesNotMatch',
      'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
    ),
  tooSkewed: () =>
    new S3Error(
      403,
      'RequestTimeTooSkewed',
      'The difference between the request time and the current time is too large.',
    ),
  malformedHeader: (found: string) =>
    new S3Error(400, 'AuthorizationHeaderMalformed', `The authorization header is malformed; ${found}.`),
  missingHeader: (name: string) =>
    new S3Error(400, 'InvalidRequest', `Missing required header for this request: ${name}`),
  noSuchBucket: () => new S3Error(404, 'NoSuchBucket', 'The specified bucket does not exist'),
  invalidBucketName: () => new S3Error(400, 'InvalidBucketName', 'The specified bucket is not valid.'),
  keyTooLong: () => new S3Error(400, 'KeyTooLongError', 'Your key is too long.'),
  noSuchKey: () => new S3Error(404, 'NoSuchKey', 'The specified key does not exist.'),
  methodNotAllowed: () =>
    new S3Error(405, 'MethodNotAllowed', 'The specified method is not allowed against this resource.'),
  invalidRange: () => new S3Error(416, 'InvalidRange', 'The requested range is not satisfiable'),
  invalidUri: () => new S3Error(400, 'InvalidURI', "Couldn't parse the specified URI."),
  bodyHashDiffers: () =>
    new S3Error(
      400,
      'XAmzContentSHA256Mismatch',
      "The provided 'x-amz-content-sha256' header does not match what was computed.",
    ),
  notImplemented: (what: string) =>
    new S3Error(501, 'NotImplemented', `A header you provided implies functionality that is not implemented: ${what}.`),
  /** What a server in trouble answers with this status. */
  ofStatus: (status: number) => {
    const code = codeOfStatus[status] ?? (status < 500 ? 'InvalidRequest' : 'InternalError');
    return new S3Error(status, code, messageOfCode[code] ?? 'The request could not be served.');
  },
};

/** The body of an error answer. */
export function errorXml(error: S3Error, resource: string, requestId: string, hostId: string): string {
  const fields = { Code: error.code, Message: error.message, Resource: resource, RequestId: requestId, HostId: hostId };
  const inner = Object.entries(fields).map(([name, value]) => `<${name}>${escapeXml(value)}</${name}>`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Error>${inner.join('')}</Error>`;
}

const escapeXml = (text: string) =>
  text.replace(/[&<>"]/g, (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[character] ?? '&quot;');

const codeOfStatus: Record<number, string> = {
  401: 'Unauthorized',
  403: 'AccessDenied',
  404: 'NoSuchKey',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'SlowDown',
};

const messageOfCode: Record<string, string> = {
  AccessDenied: 'Access Denied',
  NoSuchKey: 'The specified key does not exist.',
  InternalError: 'We encountered an internal error. Please try again.',
  SlowDown: 'Please reduce your request rate.',
};
