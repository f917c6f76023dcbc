import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import type { Bandwidth } from './bandwidth.ts';
import type { Fault } from './faults.ts';

/** Bytes on their way to one client. */
interface Body {
  bytes: number;
  chunks: AsyncIterable<Buffer>;
  fault: Fault | undefined;
  onSent: (bytes: number) => void;
}

/** Sends a body at the speed the link allows and breaks where its fault says; `onSent` hears what the client's connection took. */
export async function sendBody(response: ServerResponse, body: Body, bandwidth: Bandwidth): Promise<void> {
  response.flushHeaders();
  const allowed = body.fault && 'fraction' in body.fault ? Math.floor(body.bytes * body.fault.fraction) : body.bytes;
  for await (const piece of pieces(body.chunks, allowed, bandwidth)) {
    await bandwidth.take(piece.length);
    if (!(await written(response, piece))) return;
    body.onSent(piece.length);
    // A client that has read enough hangs up: hear of it before more goes into the connection's buffers.
    await setImmediate();
  }
  if (body.fault?.mode === 'cutAt') response.socket?.destroy();
  else if (body.fault?.mode !== 'stall') response.end();
}

async function* pieces(chunks: AsyncIterable<Buffer>, allowed: number, bandwidth: Bandwidth) {
  let left = allowed;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length && left > 0; ) {
      const piece = chunk.subarray(at, at + Math.min(bandwidth.pieceBytes(), left));
      at += piece.length;
      left -= piece.length;
      yield piece;
    }
    if (left === 0) return;
  }
}

/** Whether the operating system took the bytes over; false when the client has gone. */
function written(response: ServerResponse, piece: Buffer): Promise<boolean> {
  if (response.destroyed || response.socket?.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    const gone = () => resolve(false);
    response.once('close', gone);
    response.write(piece, (error) => {
      response.off('close', gone);
      resolve(!error);
    });
  });
}
