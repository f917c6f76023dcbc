import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readManifests } from '../../deploy/local/manifests.ts';
import { widgetDefinition } from '../contract/case.ts';
import { cases } from '../contract/cases.ts';
import { runCase } from '../contract/run-case.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const json = { 'content-type': 'application/json' };

let proxy: { url: string; child: ChildProcess };
beforeAll(async () => {
  proxy = await kubectlProxy();
});
afterAll(() => {
  proxy.child.kill();
});

/** A way to the API server without credentials of one's own, on loopback. */
async function kubectlProxy(): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn('kubectl', ['proxy', '--port=0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) {
    const port = /127\.0\.0\.1:(\d+)/.exec(line)?.[1];
    if (port) return { url: `http://127.0.0.1:${port}`, child };
  }
  throw new Error('expected kubectl proxy to say its port, found its end');
}

const post = (path: string, body: unknown) =>
  fetch(proxy.url + path, { method: 'POST', headers: json, body: JSON.stringify(body) });

describe('a real API server answers as the contract says:', () => {
  beforeAll(async () => {
    expect((await post(definitions, widgetDefinition)).status).toBe(201);
  });
  for (const each of cases) test(each.name, () => runCase(proxy.url, each));
});

describe('our own manifests on a real API server', () => {
  test('its schemas and CEL rules are accepted, costs included', async () => {
    for (const definition of await readManifests('crds')) {
      const answer = await post(definitions, definition);
      expect({ status: answer.status, body: await answer.text() }).toMatchObject({ status: 201 });
    }
  });
  test('permissions, namespace and policy are accepted under strict validation', async () => {
    for (const object of await readManifests('deploy/base', 'knative')) {
      const place = places[object.kind];
      if (!place) continue;
      const answer = await post(`${place(object.metadata.namespace)}?fieldValidation=Strict`, object);
      expect({ name: object.metadata.name, status: answer.status, body: await answer.text() }).toMatchObject({
        status: 201,
      });
    }
  });
});

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const places: Record<string, (namespace?: string) => string> = {
  Namespace: () => '/api/v1/namespaces',
  ConfigMap: (namespace) => `/api/v1/namespaces/${namespace}/configmaps`,
  ServiceAccount: (namespace) => `/api/v1/namespaces/${namespace}/serviceaccounts`,
  ClusterRole: () => `${rbac}/clusterroles`,
  ClusterRoleBinding: () => `${rbac}/clusterrolebindings`,
  Role: (namespace) => `${rbac}/namespaces/${namespace}/roles`,
  RoleBinding: (namespace) => `${rbac}/namespaces/${namespace}/rolebindings`,
};
