/** Picks ranges out of a stream as it flows by, holding no more than the ranges themselves. */
export interface RangeCatcher {
  /** Calls `then` with these bytes when they have come; false when they have flowed by already. */
  want(offset: number, bytes: number, then: (caught: Buffer) => void): boolean;
  push(chunk: Buffer): void;
  /** How much has flowed by. */
  position(): number;
  /** The ranges that did not come, or not whole. */
  missing(): { offset: number; bytes: number }[];
}

export function rangeCatcher(): RangeCatcher {
  const waiting: { offset: number; bytes: number; caught: Buffer[]; next: number; then: (caught: Buffer) => void }[] =
    [];
  let position = 0;
  return {
    want: (offset, bytes, then) => {
      if (offset < position) return false;
      waiting.push({ offset, bytes, caught: [], next: offset, then });
      return true;
    },
    push: (chunk) => {
      const end = position + chunk.length;
      // A range that is complete may want another one, which may lie in this very chunk.
      for (let range = waiting.find(({ next }) => next < end); range; range = waiting.find(({ next }) => next < end)) {
        const until = Math.min(end, range.offset + range.bytes);
        range.caught.push(chunk.subarray(range.next - position, until - position));
        range.next = until;
        if (until < range.offset + range.bytes) continue;
        waiting.splice(waiting.indexOf(range), 1);
        range.then(Buffer.concat(range.caught));
      }
      position = end;
    },
    position: () => position,
    missing: () => waiting.map(({ offset, bytes }) => ({ offset, bytes })),
  };
}
