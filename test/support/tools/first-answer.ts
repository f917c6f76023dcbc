import type { ChildProcess } from 'node:child_process';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves when a server that a child process starts answers there: asked again as soon as a connection is refused, because no event reports an open port. */
export async function firstAnswer(url: string, child: ChildProcess): Promise<void> {
  while (child.exitCode === null && child.signalCode === null) {
    try {
      await (await fetch(url)).text();
      return;
    } catch {
      await sleep(2);
    }
  }
  throw new Error(
    `expected an answer at ${url}, found that the process ended with ${child.exitCode ?? child.signalCode}`,
  );
}

/** A port of loopback that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
  });
  await new Promise((resolve) => server.close(resolve));
  return port;
}
