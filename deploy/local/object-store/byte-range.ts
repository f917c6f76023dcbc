import { s3Errors } from './s3-error.ts';

/** The bytes from `start` up to `end` that a Range header asks for; undefined for the whole object, throws InvalidRange beyond it. */
export function byteRange(header: string | undefined, size: number): { start: number; end: number } | undefined {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  // What ends before it begins is no range (RFC 9110).
  if ((from === '' && to === '') || (from !== '' && to !== '' && Number(to) < Number(from))) return undefined;
  const start = from === '' ? Math.max(0, size - Number(to)) : Number(from);
  const end = from === '' || to === '' ? size : Math.min(size, Number(to) + 1);
  if (start >= end) throw s3Errors.invalidRange();
  return { start, end };
}
