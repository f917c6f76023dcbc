/** How long ago something was, as short as people say it: "45s", "5m", "3h", "2d"; empty where nobody knows when. */
export function formatAge(time: string | undefined, nowMs: number): string {
  const ms = nowMs - Date.parse(time ?? '');
  return Number.isFinite(ms) ? formatSpan(ms) : '';
}

/** A span of time, in one unit. */
export function formatSpan(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 2 * 3600) return `${Math.round(seconds / 60)}m`;
  if (seconds < 2 * 86_400) return `${Math.round(seconds / 3600)}h`;
  return `${Math.round(seconds / 86_400)}d`;
}
