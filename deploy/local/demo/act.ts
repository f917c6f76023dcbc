import type { DemoImage } from './images.ts';
import type { DemoWorld } from './set-up.ts';
import type { StepReport, Watch, Watcher } from './watcher.ts';

/** Where an act plays. */
export interface Stage {
  /** When the demo began. */
  startedMs: number;
  /** What has been seen of the kinds that the act watches. */
  seen: Watcher;
  /** Reports a step of a part of an object. */
  report(step: StepReport): void;
  /** Shows what a user would type now. */
  command(command: string): void;
  /** Aborts when the act is over. */
  signal: AbortSignal;
}

/** An act over any kind: what it watches, what is done in it, what is displayed meanwhile, and its result as far as it came. */
export interface Act<View, Result> {
  watches: readonly Watch[];
  play(): Promise<void>;
  view(): View;
  result(): Result;
}

/** Counts what is downloaded from now on; the returned function says how much of this image, and of all others. */
export function countDownloads({ store }: DemoWorld, { name, bucket, key, content }: DemoImage, signal: AbortSignal) {
  const image = { name, bytesDownloaded: 0, bytesNeeded: content?.length ?? 0 };
  let otherBytesDownloaded = 0;
  const stop = store.onBytes((path, bytes) => {
    if (path === `/${bucket}/${key}`) image.bytesDownloaded += bytes;
    else otherBytesDownloaded += bytes;
  });
  signal.addEventListener('abort', stop, { once: true });
  return () => ({ image, otherBytesDownloaded });
}

/** Null if one of the two has not happened. */
export const secondsBetween = (fromMs: number | undefined, toMs: number | undefined) =>
  fromMs === undefined || toMs === undefined ? null : (toMs - fromMs) / 1000;
