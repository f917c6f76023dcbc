import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { pipeline } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import type { Compression } from './recognise.ts';

/** What is inside a compressed stream; breaks with the stream's own error when that breaks. `over` ends it, read or not. */
export function decompress(
  chunks: AsyncIterable<Buffer>,
  compression: Compression,
  over: AbortSignal,
): AsyncIterable<Buffer> {
  if (compression === 'xz') return unxz(chunks, over);
  const decoder = compression === 'gz' ? createGunzip() : createZstdDecompress();
  // The reader of the decoder meets any error; the callback has nothing to add.
  return pipeline(chunks, decoder, () => {});
}

/** Node has no decoder for xz; the program of that name is on nearly every machine. */
async function* unxz(chunks: AsyncIterable<Buffer>, over: AbortSignal): AsyncGenerator<Buffer> {
  const program = spawn('xz', ['--decompress', '--stdout'], { stdio: ['pipe', 'pipe', 'ignore'], signal: over });
  let broken: unknown;
  program.once('error', () => {
    broken = new Error('expected the program xz on the PATH, found none: install it, or use gz or zst');
  });
  const closed = once(program, 'close').catch(() => [1]);
  pipeline(chunks, program.stdin, (error) => {
    // EPIPE only says that xz has stopped, for which it has its own reason.
    if (error && error.code !== 'EPIPE') broken ??= error;
    if (error) program.kill();
  });
  try {
    yield* program.stdout;
    const [code] = await closed;
    if (broken) throw broken;
    if (code !== 0) throw new Error('xz: data is truncated or corrupt');
  } finally {
    program.kill();
  }
}
