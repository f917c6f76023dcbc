/** The importer's message of a failed import, and the reason in the condition Running. */
export class ImportFailure extends Error {
  readonly reason: FailureReason;
  constructor(message: string, reason: FailureReason = 'Error') {
    super(message);
    this.name = 'ImportFailure';
    this.reason = reason;
  }
}

export type FailureReason = 'Error' | 'ImagePullFailed' | 'ChecksumError';

/** A connection that ended before its content did; Go's words for it. */
export class UnexpectedEnd extends Error {
  override message = 'unexpected EOF';
}

/** What Go's libraries say where Node's throw `error`, so that messages read as CDI's do. */
export function inGoWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'Z_BUF_ERROR' || error.message === 'unexpected end of file') return 'unexpected EOF';
  if (code === 'Z_DATA_ERROR') return /check/.test(error.message) ? 'gzip: invalid checksum' : 'flate: corrupt input';
  return error.message;
}
