/** A bar of that many columns, filled up to that share. */
export function barOf(share: number, width: number): string {
  const filled = Math.round(Math.min(1, Math.max(0, share)) * width);
  return '█'.repeat(filled) + '░'.repeat(Math.max(0, width - filled));
}
