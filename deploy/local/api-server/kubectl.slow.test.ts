import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test as vitestTest } from 'vitest';
import { stringify } from 'yaml';
import { realClock } from '../clock.ts';
import { type ApiServer, startApiServer } from './api-server.ts';

const isHere = spawnSync('kubectl', ['version', '--client']).status === 0;
const test = vitestTest.skipIf(!isHere);
const named = (title: string) => (isHere ? title : `${title} (needs kubectl on PATH)`);

const folder = mkdtempSync(join(tmpdir(), 'api-server-'));
let server: ApiServer;

beforeAll(async () => {
  server = await startApiServer({ clock: realClock });
  writeFileSync(join(folder, 'kubeconfig'), server.kubeconfig());
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

/** What kubectl prints, warnings and errors included. */
async function kubectl(...args: string[]): Promise<string> {
  try {
    const connection = ['--kubeconfig', join(folder, 'kubeconfig'), '--cache-dir', join(folder, 'cache')];
    const { stdout, stderr } = await promisify(execFile)('kubectl', [...connection, ...args]);
    return stdout + stderr;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return stdout + stderr;
  }
}

function file(...objects: object[]): string {
  const path = join(folder, 'objects.yaml');
  writeFileSync(path, objects.map((object) => stringify(object)).join('---\n'));
  return path;
}

// How kubectl applies, gets, describes, patches, edits, deletes, waits and explains: test/proofs/contract/kubectl-story.ts.

test(named('create makes objects of words'), async () => {
  expect(await kubectl('create', 'namespace', 'demo')).toBe('namespace/demo created\n');
  expect(await kubectl('-n', 'demo', 'create', 'configmap', 'm', '--from-literal=a=b')).toBe('configmap/m created\n');
  expect(await kubectl('-n', 'demo', 'create', 'secret', 'generic', 's', '--from-literal=a=b')).toBe(
    'secret/s created\n',
  );
  await kubectl('-n', 'demo', 'create', 'role', 'r', '--verb=get', '--resource=pods');
  expect(await kubectl('-n', 'demo', 'get', 'role', 'r', '-o', 'jsonpath={.rules}')).toBe(
    '[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]',
  );
  expect(await kubectl('delete', 'namespace', 'demo')).toBe('namespace "demo" deleted\n');
});

test(named('create sends what kubectl makes of words as protobuf, which is read whole'), async () => {
  expect(await kubectl('create', 'deployment', 'words', '--image=i:1', '--replicas=2', '--port=80')).toBe(
    'deployment.apps/words created\n',
  );
  expect(JSON.parse(await kubectl('get', 'deployment', 'words', '-o', 'json'))).toMatchObject({
    metadata: { labels: { app: 'words' } },
    spec: {
      replicas: 2,
      template: { spec: { containers: [{ name: 'i', image: 'i:1', ports: [{ containerPort: 80 }] }] } },
    },
  });
  expect(await kubectl('scale', 'deployment', 'words', '--replicas=0')).toBe('deployment.apps/words scaled\n');
  expect(await kubectl('get', 'deployment', 'words', '-o', 'jsonpath={.spec.replicas}')).toBe('0');
  expect(await kubectl('create', 'job', 'once', '--image=i:1')).toBe('job.batch/once created\n');
  expect(await kubectl('create', 'service', 'clusterip', 'words', '--tcp=80:8080')).toBe('service/words created\n');
  expect(await kubectl('delete', 'deployment/words', 'job/once', 'service/words')).toContain('"words" deleted');
});

test(named('replace puts the whole object'), async () => {
  await kubectl('create', 'configmap', 'whole', '--from-literal=a=b');
  const whole = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'whole' }, data: { c: 'd' } };
  expect(await kubectl('replace', '-f', file(whole))).toBe('configmap/whole replaced\n');
  expect(await kubectl('get', 'configmap', 'whole', '-o', 'jsonpath={.data}')).toBe('{"c":"d"}');
});

test(named('explain knows built-in kinds, version the server, and whoami who asks'), async () => {
  expect(await kubectl('explain', 'pod.spec.containers')).toMatch(/imagePullPolicy\s+<string>/);
  expect(await kubectl('version')).toContain('Server Version: v1.34.4');
  expect(await kubectl('auth', 'whoami', '--as=ann', '--as-group=admins')).toMatch(/Username\s+ann\nGroups\s+\[admins/);
});

test(named('built-in kinds print as they do on a real cluster'), async () => {
  const spec = { containers: [{ name: 'c', image: 'i' }] };
  const labels = { a: 'b' };
  await kubectl(
    'apply',
    '-f',
    file(
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec },
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { key: 'value' } },
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'd' },
        spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
      },
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'v' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: 'fast' },
      },
    ),
  );
  expect(await kubectl('get', 'pods', '-o', 'wide')).toMatch(/p\s+0\/1\s+Pending\s+0\s+\S+\s+<none>\s+<none>/);
  expect(await kubectl('get', 'secret', 's')).toMatch(/NAME\s+TYPE\s+DATA\s+AGE\ns\s+Opaque\s+1/);
  expect(await kubectl('get', 'deploy', '-o', 'wide')).toMatch(/d\s+0\/1\s+0\s+0\s+\S+\s+c\s+i\s+a=b/);
  expect(await kubectl('get', 'pvc')).toMatch(/v\s+Pending\s+fast\s+<unset>/);
  for (const kind of ['pod/p', 'secret/s', 'deployment/d', 'pvc/v', 'namespace/default']) {
    expect(await kubectl('describe', kind)).toMatch(/^Name:\s+\S+/);
  }
});
