import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { serveFunctions } from '../../../deploy/local/functions.ts';
import { operatorNamespace } from '../../../shared/operator.ts';

/** What the thread of the functions starts with. */
export interface Started {
  /** Of each function, under its ServiceAccount. */
  kubeconfigs: Record<string, string>;
  mistake: string | undefined;
  /** A value of a Secret, for a mistake that tells it. */
  secret: string;
  openStack: boolean;
}

export type Asked =
  | { do: 'serve'; id: number; name: string; headers: [string, string][]; body: string; sink: string | undefined }
  | { do: 'measure' | 'drain'; id: number };

export interface Answered {
  id: number;
  status: number;
  body: string;
  measured?: Measured;
}

/** CPU time of the functions' thread since it was asked last. */
export interface Measured {
  /** The longest work without a pause. */
  longestBlockMs: number;
  /** The longest decision, by function. */
  longestDecideMs: Record<string, number>;
}

/** What is heard of the functions. */
export interface Heard {
  log(line: string): void;
  answered(name: string, status: number, body: string): void;
  /** The thread ended: something was thrown that no one caught. */
  ended(error: Error): void;
}

/** All functions in a thread of their own, so that its CPU time is theirs alone. */
export function functionsApart(of: Omit<Started, 'kubeconfigs'>, heard: Heard) {
  let thread: Worker | undefined;
  let asked = 0;
  const waiting = new Map<number, (answer: Answered) => void>();
  const ask = (what: Asked) =>
    new Promise<Answered>((resolve) => {
      waiting.set(what.id, resolve);
      thread?.postMessage(what);
    });
  const serve: typeof serveFunctions = (declarations, { server, sink }) => {
    const kubeconfigOf = (name: string) => server.kubeconfig(server.tokenFor({ namespace: operatorNamespace, name }));
    const kubeconfigs = Object.fromEntries(declarations.map(({ name }) => [name, kubeconfigOf(name)]));
    const workerData: Started = { ...of, kubeconfigs };
    thread = new Worker(new URL('./function-thread.ts', import.meta.url), { workerData, stderr: true });
    thread.on('message', (answer: Answered) => {
      waiting.get(answer.id)?.(answer);
      waiting.delete(answer.id);
    });
    thread.on('error', (error) => {
      heard.ended(error as Error);
      for (const [id, resolve] of waiting) resolve({ id, status: 503, body: '' });
      waiting.clear();
    });
    let rest = '';
    thread.stderr.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) heard.log(line);
    });
    const names = new Set(declarations.map(({ name }) => name));
    return {
      handler: (name) =>
        names.has(name)
          ? async (request) => {
              const body = await request.text();
              const { status, body: said } = await ask({
                do: 'serve',
                id: ++asked,
                name,
                headers: [...request.headers],
                body,
                sink: sink(),
              });
              heard.answered(name, status, said);
              return new Response([202, 204].includes(status) ? null : said, { status });
            }
          : undefined,
      drain: async () => {
        if (!thread) return;
        const drained = ask({ do: 'drain', id: ++asked });
        await Promise.race([drained, once(thread, 'exit')]);
        await thread.terminate();
      },
    };
  };
  return {
    serve,
    measure: async (): Promise<Measured> =>
      (await ask({ do: 'measure', id: ++asked })).measured ?? { longestBlockMs: 0, longestDecideMs: {} },
  };
}
