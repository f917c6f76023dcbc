/** The age of an object, as kubectl prints it: "45s", "5m", "3h", "2d"; empty if the time is unknown. */
export function formatAge(time: string | undefined, nowMs: number): string {
  const ms = nowMs - Date.parse(time ?? '');
  return Number.isFinite(ms) ? formatSpan(ms) : '';
}

/** A duration in one unit. */
export function formatSpan(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 2 * 3600) return `${Math.round(seconds / 60)}m`;
  if (seconds < 2 * 86_400) return `${Math.round(seconds / 3600)}h`;
  return `${Math.round(seconds / 86_400)}d`;
}
