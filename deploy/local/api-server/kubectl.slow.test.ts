import { execFile, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, test as vitestTest } from 'vitest';
import { stringify } from 'yaml';
import { realClock } from '../clock.ts';
import { type ApiServer, startApiServer } from './api-server.ts';
import { aWidget, clientOf, watchLines, widgetDefinition, widgets } from './test-client.ts';

const isHere = spawnSync('kubectl', ['version', '--client']).status === 0;
const test = vitestTest.skipIf(!isHere);
const named = (title: string) => (isHere ? title : `${title} (needs kubectl on PATH)`);

const folder = mkdtempSync(join(tmpdir(), 'api-server-'));
let server: ApiServer;
let send: ReturnType<typeof clientOf>;

beforeAll(async () => {
  server = await startApiServer({ clock: realClock });
  send = clientOf(server);
  writeFileSync(join(folder, 'kubeconfig'), server.kubeconfig());
  await send('POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions', widgetDefinition());
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => send(`DELETE ${widgets}`));

const connection = () => ['--kubeconfig', join(folder, 'kubeconfig'), '--cache-dir', join(folder, 'cache')];

/** What kubectl prints, warnings and errors included. */
async function kubectl(...args: string[]): Promise<string> {
  try {
    const { stdout, stderr } = await promisify(execFile)('kubectl', [...connection(), ...args]);
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

const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { a: 'b' } };

test(named('apply makes, changes and leaves alone'), async () => {
  expect(await kubectl('apply', '-f', file(aWidget('w'), configMap))).toBe(
    'widget.example.com/w created\nconfigmap/c created\n',
  );
  expect(await kubectl('apply', '-f', file(aWidget('w'), configMap))).toBe(
    'widget.example.com/w unchanged\nconfigmap/c unchanged\n',
  );
  expect(await kubectl('apply', '-f', file(aWidget('w', { spec: { size: 2 } })))).toBe(
    'widget.example.com/w configured\n',
  );
  expect(await kubectl('apply', '--dry-run=server', '-f', file(aWidget('w', { spec: { size: 3 } })))).toBe(
    'widget.example.com/w configured (server dry run)\n',
  );
  expect(await kubectl('get', 'wd', 'w', '-o', 'jsonpath={.spec.size}')).toBe('2');
});

test(named('apply refuses a field the schema does not know'), async () => {
  expect(await kubectl('apply', '-f', file(aWidget('w', { spec: { size: 1, bogus: 1 } })))).toContain(
    'strict decoding error: unknown field "spec.bogus"',
  );
  expect(await kubectl('apply', '--validate=warn', '-f', file(aWidget('w', { spec: { size: 1, bogus: 1 } })))).toBe(
    'widget.example.com/w created\nWarning: unknown field "spec.bogus"\n',
  );
});

test(named('apply --server-side owns its fields and meets conflicts'), async () => {
  expect(await kubectl('apply', '--server-side', '-f', file(aWidget('w')))).toBe(
    'widget.example.com/w serverside-applied\n',
  );
  const other = ['apply', '--server-side', '--field-manager=other', '-f', file(aWidget('w', { spec: { size: 2 } }))];
  expect(await kubectl(...other)).toContain('Apply failed with 1 conflict: conflict with "kubectl": .spec.size');
  expect(await kubectl(...other, '--force-conflicts')).toBe('widget.example.com/w serverside-applied\n');
});

test(named('create makes objects of files and of words'), async () => {
  expect(await kubectl('create', '-f', file(aWidget('w')))).toBe('widget.example.com/w created\n');
  expect(await kubectl('create', '-f', file(aWidget('w')))).toContain('widgets.example.com "w" already exists');
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

test(named('get shows the columns of the kind, wide ones with -o wide'), async () => {
  await send(`POST ${widgets}`, aWidget('w', { metadata: { name: 'w', labels: { app: 'x' } } }));
  await send(`POST ${widgets}`, aWidget('v'));
  expect(await kubectl('get', 'wd')).toMatch(/^NAME\s+SIZE\s+PHASE\nv\s+1\s*\nw\s+1\s*\n$/);
  expect(await kubectl('get', 'widgets', '-o', 'wide')).toMatch(/^NAME\s+SIZE\s+PHASE\s+COLOR\nv\s+1\s+red\n/);
  expect(await kubectl('get', 'wd', '-A')).toMatch(/^NAMESPACE\s+NAME\s+SIZE\s+PHASE\ndefault\s+v\s+1/);
  expect(await kubectl('get', 'wd', '-l', 'app=x', '-o', 'name')).toBe('widget.example.com/w\n');
  expect(await kubectl('get', 'wd', '--field-selector', 'spec.color=blue')).toBe(
    'No resources found in default namespace.\n',
  );
  expect(JSON.parse(await kubectl('get', 'wd', '-o', 'json'))).toMatchObject({ items: [{ kind: 'Widget' }, {}] });
  expect(await kubectl('get', 'wd', 'w', '-o', 'yaml')).toContain('kind: Widget');
  expect(await kubectl('get', 'wd', '--sort-by=.metadata.creationTimestamp', '--chunk-size=1')).toMatch(
    /v\s+1\s*\nw\s+1/,
  );
  expect(await kubectl('get', 'wd', 'none')).toBe(
    'Error from server (NotFound): widgets.example.com "none" not found\n',
  );
});

test(named('get -w prints each change as a row'), async () => {
  await send(`POST ${widgets}`, aWidget('w'));
  const watch = spawn('kubectl', [...connection(), 'get', 'wd', '-w', '--no-headers']);
  const lines = createInterface(watch.stdout)[Symbol.asyncIterator]();
  expect((await lines.next()).value).toMatch(/^w\s+1\s*$/);
  await send(`PATCH ${widgets}/w/status`, { status: { phase: 'Busy' } });
  expect((await lines.next()).value).toMatch(/^w\s+1\s+Busy\s*$/);
  watch.kill();
});

test(named('describe shows the object and the Events about it'), async () => {
  const { body } = await send(`POST ${widgets}`, aWidget('w'));
  const { uid } = body.metadata;
  await send('POST /api/v1/namespaces/default/events', {
    metadata: { name: 'w.1' },
    involvedObject: { apiVersion: 'example.com/v1', kind: 'Widget', name: 'w', namespace: 'default', uid },
    type: 'Warning',
    reason: 'Odd',
    message: 'something is odd',
    source: { component: 'a-test' },
    firstTimestamp: new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
    lastTimestamp: new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
    count: 1,
  });
  expect(await kubectl('describe', 'wd', 'w')).toMatch(
    /Name:\s+w\n[\s\S]*Spec:\n\s+Color:\s+red[\s\S]*Warning\s+Odd\s+\S+\s+a-test\s+something is odd/,
  );
  expect(await kubectl('events')).toMatch(
    /LAST SEEN\s+TYPE\s+REASON\s+OBJECT\s+MESSAGE\n\S+\s+Warning\s+Odd\s+Widget\/w\s+something is odd/,
  );
  expect(await kubectl('events', '--for', 'widget/w')).toContain('something is odd');
  expect(await kubectl('get', 'events')).toMatch(
    /^LAST SEEN\s+TYPE\s+REASON\s+OBJECT\s+MESSAGE\n\S+\s+Warning\s+Odd\s+widget\/w/,
  );
});

test(named('patch takes merge, JSON and strategic patches'), async () => {
  await kubectl('apply', '-f', file(aWidget('w'), configMap));
  expect(await kubectl('patch', 'wd', 'w', '--type=merge', '-p', '{"spec":{"size":4}}')).toBe(
    'widget.example.com/w patched\n',
  );
  expect(await kubectl('patch', 'wd', 'w', '--type=merge', '-p', '{"spec":{"size":4}}')).toBe(
    'widget.example.com/w patched (no change)\n',
  );
  const json = '[{"op":"replace","path":"/spec/size","value":5}]';
  expect(await kubectl('patch', 'wd', 'w', '--type=json', '-p', json, '-o', 'jsonpath={.spec.size}')).toBe('5');
  expect(await kubectl('patch', 'cm', 'c', '-p', '{"data":{"z":"1"}}', '-o', 'jsonpath={.data}')).toBe(
    '{"a":"b","z":"1"}',
  );
  const status = ['--subresource=status', '--type=merge', '-p', '{"status":{"phase":"Done"}}'];
  expect(await kubectl('patch', 'wd', 'w', ...status, '-o', 'jsonpath={.status.phase}')).toBe('Done');
});

test(named('annotate and label change metadata only'), async () => {
  await send(`POST ${widgets}`, aWidget('w'));
  expect(await kubectl('annotate', 'wd', 'w', 'pelotech.ot/sync-requested=now')).toBe(
    'widget.example.com/w annotated\n',
  );
  expect(await kubectl('label', 'wd', 'w', 'a=b')).toBe('widget.example.com/w labeled\n');
  expect(await kubectl('label', 'wd', 'w', 'a-')).toBe('widget.example.com/w unlabeled\n');
  expect((await send(`GET ${widgets}/w`)).body.metadata).toMatchObject({
    generation: 1,
    annotations: { 'pelotech.ot/sync-requested': 'now' },
  });
});

test(named('replace and edit put the whole object'), async () => {
  await send(`POST ${widgets}`, aWidget('w'));
  expect(await kubectl('replace', '-f', file(aWidget('w', { spec: { size: 6 } })))).toBe(
    'widget.example.com/w replaced\n',
  );
  const editor = join(folder, 'editor.sh');
  writeFileSync(editor, '#!/bin/sh\nsed -i "s/size: 6/size: 7/" "$1"\n', { mode: 0o755 });
  const { stdout } = await promisify(execFile)('kubectl', [...connection(), 'edit', 'wd', 'w'], {
    env: { ...process.env, KUBE_EDITOR: editor },
  });
  expect(stdout).toBe('widget.example.com/w edited\n');
  expect((await send(`GET ${widgets}/w`)).body.spec).toMatchObject({ size: 7 });
});

test(named('delete waits until finalizers let the object go'), async () => {
  await send(`POST ${widgets}`, { ...aWidget('w'), metadata: { name: 'w', finalizers: ['x/held'] } });
  const stop = new AbortController();
  const changes = watchLines(`${server.url}${widgets}?watch=1`, stop.signal);
  await changes.next();
  const deletion = kubectl('delete', 'wd', 'w');
  expect((await changes.next()).value).toMatchObject({
    object: { metadata: { deletionTimestamp: expect.any(String) } },
  });
  await send(`PATCH ${widgets}/w`, { metadata: { finalizers: null } });
  expect(await deletion).toBe('widget.example.com "w" deleted\n');
  stop.abort();
  expect(await kubectl('delete', 'wd', 'w', '--ignore-not-found')).toBe('');
});

test(named('wait sees conditions, paths and deletions'), async () => {
  expect(await kubectl('wait', '--for=condition=Established', 'crd/widgets.example.com')).toContain('condition met');
  await send(`POST ${widgets}`, aWidget('w'));
  const waits = [
    kubectl('wait', 'wd/w', '--for=condition=Ready', '--timeout=20s'),
    kubectl('wait', 'wd/w', '--for=jsonpath={.status.phase}=Done', '--timeout=20s'),
  ];
  await send(`PATCH ${widgets}/w/status`, {
    status: { phase: 'Done', conditions: [{ type: 'Ready', status: 'True' }] },
  });
  expect(await Promise.all(waits)).toEqual([
    'widget.example.com/w condition met\n',
    'widget.example.com/w condition met\n',
  ]);
  const gone = kubectl('wait', 'wd/w', '--for=delete', '--timeout=20s');
  await send(`DELETE ${widgets}/w`);
  expect(await gone).not.toContain('timed out');
});

test(named('api-resources, explain and version tell what the server has'), async () => {
  expect(await kubectl('api-resources')).toMatch(/widgets\s+wd\s+example.com\/v1\s+true\s+Widget/);
  expect(await kubectl('api-versions')).toContain('coordination.k8s.io/v1\n');
  expect(await kubectl('explain', 'widget.spec.size')).toMatch(/FIELD: size <integer>[\s\S]*How big it is\./);
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
