/** The first `bytes` of a stream (fewer if it ends before) and the stream again, with them. */
export async function peek(chunks: AsyncIterable<Buffer>, bytes: number) {
  const iterator = chunks[Symbol.asyncIterator]();
  const seen: Buffer[] = [];
  let length = 0;
  while (length < bytes) {
    const next = await iterator.next();
    if (next.done) break;
    seen.push(next.value);
    length += next.value.length;
  }
  return { head: Buffer.concat(seen).subarray(0, bytes), chunks: replay(seen, iterator) };
}

async function* replay(seen: Buffer[], iterator: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* seen;
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value;
  } finally {
    await iterator.return?.();
  }
}
