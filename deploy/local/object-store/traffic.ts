/** What an object store has done so far, by path (`/bucket/key`). */
export interface Traffic {
  countRequest(path: string, method: string): void;
  countBytes(path: string, bytes: number): void;
  requests(path: string, method?: string): number;
  bytesSent(path: string): number;
  /** Calls `listener` for every piece that goes out; the returned function ends that. */
  onBytes(listener: (path: string, bytes: number) => void): () => void;
}

export function countedTraffic(): Traffic {
  const requests = new Map<string, number>();
  const bytesSent = new Map<string, number>();
  const listeners = new Set<(path: string, bytes: number) => void>();
  const add = (to: Map<string, number>, key: string, amount: number) => to.set(key, (to.get(key) ?? 0) + amount);
  return {
    countRequest: (path, method) => {
      add(requests, path, 1);
      add(requests, `${method} ${path}`, 1);
    },
    countBytes: (path, bytes) => {
      add(bytesSent, path, bytes);
      for (const listener of listeners) listener(path, bytes);
    },
    requests: (path, method) => requests.get(`${method ? `${method} ` : ''}${objectPath(path)}`) ?? 0,
    bytesSent: (path) => bytesSent.get(objectPath(path)) ?? 0,
    onBytes: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** `/bucket/key` of an object that is named by its whole URL, by its path in one, or as `bucket/key`. */
export function objectPath(name: string): string {
  const path = URL.canParse(name) ? decodeURIComponent(new URL(name).pathname) : name;
  return `/${path.replace(/^\//, '')}`;
}
