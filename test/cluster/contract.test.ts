import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readManifests } from '../../deploy/local/manifests.ts';
import { definitions, groups } from '../contract/cases.ts';
import { send, type World } from '../contract/connection.ts';
import { differences } from '../contract/differences.ts';
import { stories } from '../contract/kubectl-story.ts';
import { isUpdate, type Recording, readRecording, writeRecording } from '../contract/recording.ts';
import { runCase } from '../contract/run-case.ts';
import { runStory } from '../contract/run-kubectl.ts';
import { realWorld } from '../contract/worlds.ts';
import { kubectlOrFail } from './kubectl.ts';

const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

let world: World;
beforeAll(async () => {
  world = await realWorld();
});

const post = (path: string, body: unknown) =>
  send(world.connection, {
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** Makes the kinds of the cases, and waits until they are served. */
async function define(): Promise<void> {
  for (const each of definitions) expect([201, 409]).toContain((await post(definitionsPath, each)).status);
  const names = definitions.map(({ metadata }) => `customresourcedefinition/${metadata.name}`);
  await kubectlOrFail('wait', '--for=condition=Established', ...names, '--timeout=60s');
}

describe('a real API server answers as the contract says:', () => {
  beforeAll(async () => {
    await define();
  });

  for (const [group, cases] of Object.entries(groups)) {
    describe(group, async () => {
      const recorded = await readRecording(group);
      const found: Recording = {};
      for (const each of cases) {
        test(each.name, async () => {
          found[each.name] = await runCase(world, each);
          if (!isUpdate()) expect(differences(recorded[each.name], found[each.name])).toEqual([]);
        });
      }
      afterAll(async () => {
        if (isUpdate()) await writeRecording(group, merged(cases, recorded, found));
      });
    });
  }
});

describe('kubectl prints on a real cluster what the contract says:', async () => {
  const recorded = await readRecording('kubectl');
  const found: Recording = {};
  let cacheDirectory: string;
  beforeAll(async () => {
    await define();
    cacheDirectory = await mkdtemp(join(tmpdir(), 'contract-'));
  });
  for (const story of stories) {
    test(story.name, async () => {
      found[story.name] = await runStory({ kubeconfig: process.env.KUBECONFIG ?? '', cacheDirectory }, story);
      if (!isUpdate()) expect(differences(recorded[story.name], found[story.name])).toEqual([]);
    });
  }
  afterAll(async () => {
    await rm(cacheDirectory, { recursive: true });
    if (isUpdate()) await writeRecording('kubectl', merged(stories, recorded, found));
  });
});

/** What is told anew, and of the rest what was told before. */
const merged = (all: readonly { name: string }[], recorded: Recording, found: Recording): Recording =>
  Object.fromEntries(
    all.flatMap(({ name }) => {
      const answers = found[name] ?? recorded[name];
      return answers ? [[name, answers]] : [];
    }),
  );

/** Applied rather than created: the functions may be installed on this cluster already. */
const applied = (collection: string, object: { metadata: { name: string } }) =>
  send(world.connection, {
    method: 'PATCH',
    path: `${collection}/${object.metadata.name}?fieldManager=contract&force=true&fieldValidation=Strict`,
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: JSON.stringify(object),
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
