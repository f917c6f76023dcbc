import { execFile, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** What a run of kubectl left. */
export interface Ran {
  code: number;
  out: string;
  err: string;
}

/** Runs kubectl against the cluster of KUBECONFIG; resolves whatever its exit code. */
export const kubectl = (...args: string[]): Promise<Ran> =>
  new Promise((resolve) => {
    const child = execFile('kubectl', args, { timeout: 300_000, maxBuffer: 64 * 1024 * 1024 }, (error, out, err) =>
      resolve({ code: error ? (child.exitCode ?? 1) : 0, out, err }),
    );
  });

/** Runs kubectl and resolves with its output; rejects with what it complained of. */
export async function kubectlOrFail(...args: string[]): Promise<string> {
  const { code, out, err } = await kubectl(...args);
  if (code === 0) return out;
  throw new Error(`kubectl ${args.join(' ')} ended with ${code}: ${err || out}`);
}

/** Opens a port on loopback that leads to a Service; `close` ends it. */
export async function portForward(namespace: string, service: string, port: number) {
  const args = ['port-forward', '--namespace', namespace, `service/${service}`, `:${port}`];
  const child = spawn('kubectl', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  for await (const line of lines) {
    const found = /127\.0\.0\.1:(\d+)/.exec(line)?.[1];
    if (!found) continue;
    // What it prints of each connection has to go somewhere, or it would block.
    child.stdout.resume();
    return { url: `http://127.0.0.1:${found}`, close: () => void child.kill() };
  }
  throw new Error(`expected kubectl ${args.join(' ')} to name its port, found its end`);
}

/** Where a Pod reaches what runs beside the cluster, and listens there. */
export const nodeAddress = () =>
  kubectlOrFail('get', 'nodes', '--output=jsonpath={.items[0].status.addresses[?(@.type=="InternalIP")].address}');

/** The address of a Service inside the cluster. */
export const clusterIpOf = (namespace: string, service: string) =>
  kubectlOrFail('get', 'service', service, '--namespace', namespace, '--output=jsonpath={.spec.clusterIP}');
