import { format } from 'node:util';
import type { Screen } from './screen.ts';

/** Has what is logged meanwhile said above the frame, into which it would be written otherwise; the returned function ends that. */
export function logAbove(screen: Screen): () => void {
  if (!process.stderr.isTTY) return () => {};
  const { error, warn } = console;
  console.error = console.warn = (...what: unknown[]) => screen.say(format(...what));
  return () => {
    Object.assign(console, { error, warn });
  };
}
