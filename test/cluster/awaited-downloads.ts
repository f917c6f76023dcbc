import { basename } from 'node:path';
import { type ImportRequest, importImage } from '../../deploy/local/importer/import-image.ts';

/** Downloads whose importers end only once `release` names their image. Each importer downloads first, and then waits. */
export function awaitedDownloads() {
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const gateOf = (name: string) => {
    const gate = gates.get(name) ?? Promise.withResolvers<void>();
    gates.set(name, gate);
    return gate;
  };
  return {
    importImage: async (request: ImportRequest) => {
      const result = await importImage(request);
      if (result.outcome !== 'done') return result;
      const { signal, url } = request;
      const ended = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
      await Promise.race([gateOf(basename(url, '.qcow2')).promise, ended]);
      return result;
    },
    release: (names: readonly string[]) => {
      for (const name of names) gateOf(name).resolve();
    },
  };
}
