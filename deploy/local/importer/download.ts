import type { Clock } from '../clock.ts';

/** What a source needs to know to open a download. */
export interface DownloadRequest {
  url: string;
  credentials?: { accessKeyId: string; secretKey: string };
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
