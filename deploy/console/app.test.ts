import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { startApiServer } from '../local/api-server/api-server.ts';
import { clientOf } from '../local/client.ts';
import { realClock } from '../local/clock.ts';
import { applyManifests, readManifests } from '../manifests.ts';
import { type Console, startConsole } from './start.ts';
import type { Explanation } from './view.ts';

const rbac = 'rbac.authorization.k8s.io/v1';

const role = {
  apiVersion: rbac,
  kind: 'Role',
  rules: [{ apiGroups: ['pelotech.ot'], resources: ['vmdiskimages'], verbs: ['list'] }],
};
const binding = {
  apiVersion: rbac,
  kind: 'RoleBinding',
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'looks' },
  subjects: [{ kind: 'ServiceAccount', name: 'teacher', namespace: 'ours' }],
};

const createImage = (namespace: string) =>
  clientOf(server).create(VMDiskImage, {
    metadata: { name: 'ubuntu', namespace },
    spec: {
      url: `https://s3.example.com/images/${namespace}.qcow2`,
      secretRef: 's3-reader',
      storageClass: 'gp3',
      snapshotClass: 'ebs-snapshot',
      diskSize: '1Gi',
    },
  });

let server: Awaited<ReturnType<typeof startApiServer>>;
let page: Console;
beforeAll(async () => {
  server = await startApiServer({ clock: realClock });
  const kube = clientOf(server);
  await applyManifests(kube, await readManifests('crds', 'deploy/base'));
  for (const name of ['ours', 'theirs']) {
    await kube.create(Namespace, { metadata: { name } });
    await createImage(name);
  }
  await applyManifests(kube, [
    ...['teacher', 'stranger'].map((name) => ({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name, namespace: 'ours' },
    })),
    { ...role, metadata: { name: 'looks', namespace: 'ours' } },
    { ...binding, metadata: { name: 'looks', namespace: 'ours' } },
  ] as never);
  // As its own account, with what its manifests grant and no more.
  const own = clientOf(server, server.tokenFor({ namespace: 'sync-operator', name: 'console' }));
  await applyManifests(
    kube,
    (await readManifests('deploy/production/console')).filter(({ kind }) => !['Deployment', 'Service'].includes(kind)),
  );
  page = await startConsole({ kube: own, host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await page?.close();
  await server?.close();
});

const tokenOf = (name: string, namespace = 'ours') => server.tokenFor({ namespace, name });
const logIn = (token: string) =>
  fetch(`${page.url}/login`, { method: 'POST', body: new URLSearchParams({ token }), redirect: 'manual' });
const cookieOf = (answer: Response) => (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
const streams: AbortController[] = [];
afterEach(() => {
  for (const stream of streams.splice(0)) stream.abort();
});

/** What the first message of the stream says to who has that token. */
async function firstView(token: string) {
  const ended = new AbortController();
  streams.push(ended);
  const answer = await fetch(`${page.url}/changes`, {
    headers: { authorization: `Bearer ${token}` },
    signal: ended.signal,
  });
  let text = '';
  for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (text.includes('\n\n')) break;
  }
  return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? 'null');
}

describe('without a token', () => {
  test('the page asks for one, and shows nothing', async () => {
    const answer = await fetch(page.url);
    expect(answer.status).toBe(401);
    expect(await answer.text()).toContain('kubectl create token');
    for (const path of ['changes', 'happened/images/ours/ubuntu']) {
      const refused = await fetch(`${page.url}/${path}`);
      expect([refused.status, await refused.json()]).toEqual([401, { expected: 'a token of this cluster' }]);
    }
  });
  test.each(['', 'unknown.token', 'x'.repeat(4000)])(
    'one that the cluster does not know is refused: %.20s',
    async (token) => {
      const answer = await logIn(token);
      expect([answer.status, answer.headers.get('location'), cookieOf(answer)]).toEqual([303, '/?refused', '']);
    },
  );
  test('a form that is too large is not read', async () => {
    expect((await logIn('x'.repeat(40_000))).status).toBe(413);
  });
});

describe('with a token', () => {
  test('it is kept where no script reads it and no other site sends it', async () => {
    const answer = await logIn(tokenOf('teacher'));
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/']);
    expect(answer.headers.get('set-cookie')).toMatch(/HttpOnly/);
    expect(answer.headers.get('set-cookie')).toMatch(/SameSite=Strict/);
    const shown = await fetch(page.url, { headers: { cookie: cookieOf(answer) } });
    expect([shown.status, await shown.text()]).toEqual([200, expect.stringContaining('<h2 id="h-images">')]);
  });
  test('who may list in one namespace sees that', async () => {
    const told = await firstView(tokenOf('teacher'));
    expect(told).toMatchObject({ viewer: 'system:serviceaccount:ours:teacher', mayLogOut: true, seesAnything: true });
    expect(Object.keys(told.view.images)).toEqual(['ours/ubuntu']);
  });
  test('a user who may list nothing sees nothing, and a message says so', async () => {
    expect(await firstView(tokenOf('stranger'))).toMatchObject({ seesAnything: false, view: { images: {} } });
  });
  test('the history of an object is visible to users who may list it', async () => {
    const headers = { authorization: `Bearer ${tokenOf('teacher')}` };
    const ask = (path: string) => fetch(`${page.url}/happened/${path}`, { headers });
    const own = await ask('images/ours/ubuntu');
    expect(own.status).toBe(200);
    // As ot-functions why says it of an image that no function has seen.
    expect((await own.json()) as Explanation).toMatchObject({ why: { commands: ['ot-functions doctor'] } });
    const refused = await ask('images/theirs/ubuntu');
    expect([refused.status, await refused.json()]).toEqual([403, { expected: 'the right to list images in theirs' }]);
    expect((await ask('workspaces/-/lab')).status).toBe(403);
    expect((await ask('secrets/ours/s3-reader')).status).toBe(404);
  });
});

test('two machines with the same name have separate histories', async () => {
  const kube = clientOf(server);
  await applyManifests(
    kube,
    ['pelotech.ot/v1alpha1', 'kupenstack.io/v1alpha1'].map((apiVersion, index) => ({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: `web.${index}`, namespace: 'ours' },
      involvedObject: { apiVersion, kind: 'VirtualMachine', namespace: 'ours', name: 'web' },
      reason: apiVersion.split('.')[0],
      message: `said of ${apiVersion}`,
      type: 'Normal',
      lastTimestamp: '2026-01-01T00:00:00Z',
    })) as never,
  );
  const may = { ...role, metadata: { name: 'looks-at-machines', namespace: 'ours' } };
  const rules = [{ apiGroups: ['pelotech.ot', 'kupenstack.io'], resources: ['virtualmachines'], verbs: ['list'] }];
  await applyManifests(kube, [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'operator', namespace: 'ours' } },
    { ...may, rules },
    {
      ...binding,
      metadata: { name: 'looks-at-machines', namespace: 'ours' },
      roleRef: { ...binding.roleRef, name: 'looks-at-machines' },
      subjects: [{ kind: 'ServiceAccount', name: 'operator', namespace: 'ours' }],
    },
  ] as never);
  const metadata = { name: 'web', namespace: 'ours' };
  const disks = [{ name: 'root' }];
  await kube.create(KupenStackMachine, { metadata, spec: { vcpu: 1, memory: '1Gi', diskAttachments: disks } });
  const vmDiskImageRef = { name: 'ubuntu', namespace: 'ours' };
  await kube.create(VirtualMachine, { metadata, spec: { resources: { cpu: '1', memory: '1Gi' }, vmDiskImageRef } });
  const headers = { authorization: `Bearer ${tokenOf('operator')}` };
  const told = async (kind: string) => {
    const answer = await fetch(`${page.url}/happened/${kind}/ours/web`, { headers });
    return answer.ok ? ((await answer.json()) as Explanation).happenings.map(({ what }) => what) : answer.status;
  };
  await expect.poll(() => told('machines')).toEqual(['pelotech']);
  await expect.poll(() => told('servers')).toEqual(['kupenstack']);
});

test('access to a new namespace is checked when its first image appears', async () => {
  const kube = clientOf(server);
  const ended = new AbortController();
  streams.push(ended);
  const headers = { authorization: `Bearer ${tokenOf('teacher')}` };
  await applyManifests(kube, [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'fresh' } },
    { ...role, metadata: { name: 'looks', namespace: 'fresh' } },
    { ...binding, metadata: { name: 'looks', namespace: 'fresh' } },
  ] as never);
  const answer = await fetch(`${page.url}/changes`, { headers, signal: ended.signal });
  let text = '';
  for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    if (text === '') await createImage('fresh');
    text += chunk;
    if (text.includes('fresh/ubuntu')) break;
  }
  expect(text).toContain('fresh/ubuntu');
});

test('no page loads or runs anything from elsewhere, or is shown inside another', async () => {
  const { headers } = await fetch(page.url);
  const policy = headers.get('content-security-policy');
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/unsafe|\*|data:/);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
});

test('nothing can be written by way of it', async () => {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
    expect((await fetch(`${page.url}/changes`, { method })).status).toBe(404);
});
