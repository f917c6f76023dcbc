import type { Clock } from '../clock.ts';
import type { KeyPair } from '../object-store/sigv4.ts';

/** What a source needs to know to open a download. */
export interface DownloadRequest {
  url: string;
  credentials?: KeyPair;
  signal: AbortSignal;
  clock: Clock;
}

/** An open download. */
export interface Download {
  chunks: AsyncIterable<Buffer>;
  /** The whole length, where CDI learns it. */
  totalBytes: number | undefined;
  /** Hangs up. */
  close(): void;
}
