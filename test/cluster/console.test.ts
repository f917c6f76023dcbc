import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { documents } from '../../deploy/manifests.ts';
import { applyText, imageUnderTest, prepare, textOf, withoutIpv6 } from './installation.ts';
import { kubectlOrFail, portForward } from './kubectl.ts';

const operator = ['--namespace', 'sync-operator'];
const folder = new URL('../../deploy/production/console/', import.meta.url);
const files = ['permissions.yaml', 'console.yaml', 'network-policy.yaml'];
/** What denies an installation's Pods all traffic that no other policy allows. */
const installed = new URL('../../knative/base/network-policies.yaml', import.meta.url);
const namespace = `shown-${process.pid}`;

/** Who may list the images of that namespace, and who may not. */
const people = `
apiVersion: v1
kind: Namespace
metadata: { name: ${namespace} }
---
apiVersion: v1
kind: ServiceAccount
metadata: { name: teacher, namespace: ${namespace} }
---
apiVersion: v1
kind: ServiceAccount
metadata: { name: stranger, namespace: ${namespace} }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: looks, namespace: ${namespace} }
rules: [{ apiGroups: [pelotech.ot], resources: [vmdiskimages], verbs: [list] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: looks, namespace: ${namespace} }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: looks }
subjects: [{ kind: ServiceAccount, name: teacher, namespace: ${namespace} }]
`;

const image = `
apiVersion: pelotech.ot/v1alpha1
kind: VMDiskImage
metadata: { name: shown, namespace: ${namespace} }
spec:
  url: https://s3.example.com/images/shown.qcow2
  secretRef: s3-reader
  storageClass: none
  snapshotClass: none
  diskSize: 1Gi
`;

describe('the console on a real cluster', () => {
  let page: Awaited<ReturnType<typeof portForward>>;
  beforeAll(async () => {
    await prepare();
    const texts = await Promise.all(files.map((name) => readFile(new URL(name, folder), 'utf8')));
    await applyText(textOf(documents(await readFile(installed, 'utf8')).map(withoutIpv6)));
    await applyText([...texts, people].join('\n---\n').replaceAll('image: ot-functions', `image: ${imageUnderTest()}`));
    await kubectlOrFail('wait', ...operator, '--for=condition=Available', 'deployment/console', '--timeout=120s');
    page = await portForward('sync-operator', 'console', 80);
  });
  afterAll(async () => {
    page?.close();
    await kubectlOrFail(
      'delete',
      '--ignore-not-found',
      ...files.flatMap((name) => ['-f', new URL(name, folder).pathname]),
    );
    await kubectlOrFail('delete', 'namespace', namespace, '--ignore-not-found');
  });

  const tokenOf = async (name: string) =>
    (await kubectlOrFail('create', 'token', name, '--namespace', namespace)).trim();

  /** Reads the stream until what it has said holds that. */
  async function told(
    token: string,
    what: RegExp,
    then: () => Promise<unknown> = async () => undefined,
  ): Promise<string> {
    const ended = AbortSignal.timeout(60_000);
    const answer = await fetch(`${page.url}/changes`, { headers: { authorization: `Bearer ${token}` }, signal: ended });
    expect(answer.status).toBe(200);
    let text = '';
    let isBegun = false;
    for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      if (what.test(text)) return text;
      if (!isBegun && text.includes('\n\n')) {
        isBegun = true;
        await then();
      }
    }
    throw new Error(`expected the stream to say ${what}, found its end after ${text}`);
  }

  test('asks who comes, and knows by the cluster who it is', async () => {
    expect((await fetch(page.url)).status).toBe(401);
    const form = (token: string) =>
      fetch(`${page.url}/login`, { method: 'POST', body: new URLSearchParams({ token }), redirect: 'manual' });
    expect((await form('nobody.knows.it')).headers.get('location')).toBe('/?refused');
    expect((await form(await tokenOf('stranger'))).headers.get('location')).toBe('/');
  });

  test('shows what happens to users who may see it, as it happens, and to no one else', async () => {
    const [teacher, stranger] = [await tokenOf('teacher'), await tokenOf('stranger')];
    const seen = await told(teacher, new RegExp(`${namespace}/shown`), () => applyText(image));
    expect(seen).toContain(`"viewer":"system:serviceaccount:${namespace}:teacher"`);
    expect(await told(stranger, /\n\n/)).toContain('"seesAnything":false');
  });
});
