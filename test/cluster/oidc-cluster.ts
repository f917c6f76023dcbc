import { execFile } from 'node:child_process';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { documents, readManifests } from '../../deploy/manifests.ts';
import type { KubernetesObject } from '../../shared/kinds/resource.ts';

/** Runs kubectl on the cluster of the environment; resolves with what it says, rejects with what it complains of. */
export const kubectl = (...args: string[]) =>
  new Promise<string>((resolve, reject) => {
    execFile('kubectl', args, { timeout: 90_000 }, (error, out, err) =>
      error ? reject(new Error(err || error.message)) : resolve(out.trim()),
    );
  });

/** One field of an object, as JSONPath; empty if it is missing. */
export const field = (path: string, ...object: string[]) => kubectl('get', ...object, '-o', `jsonpath={${path}}`);

/** Whether an object says of itself that it is ready. */
const isReady = (...object: string[]) =>
  field('.status.conditions[?(@.type=="Ready")].status', ...object).then(
    (status) => status === 'True',
    () => false,
  );

/** All EventPolicies of the cluster, as namespace/name. */
export const eventPolicies = async () =>
  (
    await kubectl(
      'get',
      'eventpolicies',
      '-A',
      '--no-headers',
      '-o',
      'custom-columns=:.metadata.namespace,:.metadata.name',
    )
  )
    .split('\n')
    .filter(Boolean)
    .map((line) => line.trim().split(/\s+/).join('/'));

/** Asks again until it is so, because few changes report when they take effect; `instead` describes what was found if it never is. */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false>,
  { withinMs = 60_000, instead = async () => '' }: { withinMs?: number; instead?: () => Promise<string> } = {},
): Promise<T> {
  const end = Date.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`expected ${what} within ${withinMs} ms${await instead()}`);
    await sleep(200);
  }
}

/** Resolves when an object says that it is ready. Throws with the status it has where it never does. */
export const untilReady = (kind: string, name: string, namespace: string, withinMs = 60_000) =>
  until(`${kind} ${name} to be ready`, () => isReady(kind, name, '-n', namespace), {
    withinMs,
    instead: async () => `, found ${await field('.status', kind, name, '-n', namespace).catch(String)}`,
  });

/** The objects of these folders (what only kustomize reads apart) as if the operator's namespace, and that of in-cluster pipelines, were others. */
export async function movedManifests(
  { namespace, ci }: { namespace: string; ci: string },
  ...folders: string[]
): Promise<KubernetesObject[]> {
  const objects = (await readManifests(...folders)).filter((object) => 'metadata' in object);
  const text = objects.map((object) => stringify(object)).join('---\n');
  return documents(
    text
      .replaceAll('sync-operator', namespace)
      .replaceAll('serviceaccount:ci:', `serviceaccount:${ci}:`)
      .replace(/(namespace|name): ci$/gm, `$1: ${ci}`),
  );
}

/** An event as a subscriber hears it. */
interface Heard {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A subscriber in this process that the cluster's pods reach at `host`; each path is one, and "/failing" refuses everything. */
export async function startSubscriber(host: string) {
  const heard: Heard[] = [];
  const server = createServer(async (request, response) => {
    const chunks = await Array.fromAsync(request as AsyncIterable<Buffer>);
    const path = request.url ?? '';
    heard.push({ path, headers: request.headers, body: Buffer.concat(chunks).toString() });
    response.writeHead(path === '/failing' ? 400 : 202).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  return {
    heard,
    /** Resolves with the first event at that path whose attribute has that value. */
    hears: (path: string, attribute: string, value: string) =>
      until(`an event with ${attribute} ${value} at ${path}`, async () =>
        heard.find((one) => one.path === path && one.headers[`ce-${attribute}`] === value),
      ),
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  };
}
