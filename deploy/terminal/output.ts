import type { WriteStream } from 'node:tty';
import type { Look } from './paint.ts';

/** Whether a stream is a terminal on which lines can be drawn over. */
export const isLive = (out: WriteStream) => out.isTTY === true && process.env.TERM !== 'dumb';

/** The look of lines on a stream: NO_COLOR and FORCE_COLOR are heeded, and what is no terminal gets whole lines. */
export const lookOf = (out: WriteStream): Look =>
  out.isTTY === true
    ? { columns: Math.max(20, out.columns || 80), colour: out.hasColors() }
    : { columns: Number.POSITIVE_INFINITY, colour: false };

/** Ends the process quietly when the reader of its output has gone, as `| head` does. */
export function endWithReader(out: WriteStream): void {
  out.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.kill(process.pid, 'SIGTERM');
  });
}
