const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/** Reads a duration as Go and Kubernetes write it ("1h30m", "500ms") into milliseconds; undefined for any other text. */
export function parseDurationMs(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) return undefined;
  let sum = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)) {
    sum += Number(amount) * unitMs[unit as keyof typeof unitMs];
  }
  return Number.isSafeInteger(Math.round(sum)) ? Math.round(sum) : undefined;
}

/** Says a duration as people do: "45s", "5m", "1h30m". */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)}ms`;
  const seconds = Math.round(milliseconds / 1000);
  const parts: [number, string][] = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor((seconds % 3600) / 60), 'm'],
    [seconds % 60, 's'],
  ];
  return parts
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount}${unit}`)
    .join('');
}
