import { beforeAll, describe, expect, test } from 'vitest';
import { readManifests } from '../../deploy/manifests.ts';
import { send, type World } from '../proofs/contract/connection.ts';
import { realWorld } from '../proofs/contract/worlds.ts';
import { declareContract } from './declare-contract.ts';

const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

// What an API server answers changes with Kubernetes, not with a commit: a CI run asks a part, contract.slow.test.ts all of it.
declareContract((_, index) => index % 4 === 0);

/** Applied rather than created: the functions may be installed on this cluster already. */
const applied = (collection: string, object: { metadata: { name: string } }) =>
  send(world.connection, {
    method: 'PATCH',
    path: `${collection}/${object.metadata.name}?fieldManager=contract&force=true&fieldValidation=Strict`,
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: JSON.stringify(object),
  });

let world: World;
beforeAll(async () => {
  world = await realWorld();
});

describe('our own manifests on a real API server', () => {
  test('its schemas and CEL rules are accepted, costs included', async () => {
    for (const definition of await readManifests('crds')) {
      const answer = await applied(definitionsPath, definition);
      expect([200, 201], answer.text).toContain(answer.status);
    }
  });
  test('permissions, namespace and policy are accepted under strict validation', async () => {
    for (const object of await readManifests('deploy/base', 'knative')) {
      const place = places[object.kind];
      if (!place) continue;
      const answer = await applied(place(object.metadata.namespace), object);
      expect([200, 201], `${object.metadata.name}: ${answer.text}`).toContain(answer.status);
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
