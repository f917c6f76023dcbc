/** Bytes as people say them, in powers of ten: "0 B", "940 kB", "3.1 MB". */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 999_500) return `${Math.round(bytes / 1000)} kB`;
  return bytes < 999_950_000 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

/** "3.2s". */
export const formatSeconds = (milliseconds: number) => `${(Math.max(0, milliseconds) / 1000).toFixed(1)}s`;
