import type { Clock } from '../clock.ts';

/** A link that all connections share: each waits for its turn before it sends a piece. */
export interface Bandwidth {
  /** How many bytes to ask for at a time, so that turns come round quickly at the present speed. */
  pieceBytes(): number;
  /** Resolves when that many bytes may go. */
  take(bytes: number): Promise<void>;
  /** Changes the speed from now on, for those who wait too; undefined is no limit, 0 stops everything. */
  limitTo(bytesPerSecond: number | undefined): void;
}

/**
 * A token bucket with a line before it. Everyone has one piece in line and goes to its end for the next,
 * so that connections take turns and get equal shares, however many there are.
 */
export function sharedBandwidth(clock: Clock, bytesPerSecond?: number): Bandwidth {
  let rate = bytesPerSecond;
  let tokens = 0;
  let countedMs = clock.now();
  let callOff = () => {};
  const line: { bytes: number; go: () => void }[] = [];

  const refill = () => {
    const nowMs = clock.now();
    const earned = ((rate ?? 0) * (nowMs - countedMs)) / 1000;
    tokens = Math.min(tokens + earned, ((rate ?? 0) * burstMs) / 1000);
    countedMs = nowMs;
  };
  const serve = () => {
    callOff();
    callOff = () => {};
    refill();
    while (line.length > 0 && (rate === undefined || (rate > 0 && tokens >= 0))) {
      const first = line.shift();
      tokens -= first?.bytes ?? 0;
      first?.go();
    }
    if (line.length > 0 && rate) callOff = clock.after(Math.max(1, (-tokens / rate) * 1000), serve);
  };
  return {
    pieceBytes: () => Math.min(largestPiece, Math.max(1024, Math.floor((rate ?? Number.POSITIVE_INFINITY) / 50))),
    take: (bytes) =>
      new Promise((go) => {
        line.push({ bytes, go });
        if (line.length === 1) serve();
      }),
    limitTo: (next) => {
      refill();
      rate = next;
      tokens = 0;
      serve();
    },
  };
}

const largestPiece = 64 * 1024;
// A late timer may catch up this much; more would let an idle link save up for a burst.
const burstMs = 50;
