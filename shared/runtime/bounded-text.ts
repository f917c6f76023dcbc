/** Reads a body as text; undefined, and the connection is closed, once it has more bytes than that. */
export async function boundedText(body: AsyncIterable<Uint8Array> | null, mostBytes: number) {
  const decoder = new TextDecoder();
  let [text, bytes] = ['', 0];
  // To leave the loop cancels the stream.
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > mostBytes) return undefined;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
