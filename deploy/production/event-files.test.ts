import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { facts, imagePublished, schemaIdOf } from '../../shared/events.ts';
import type { KubernetesObject } from '../../shared/kinds/resource.ts';
import { startApiServer } from '../local/api-server/api-server.ts';
import { clientOf } from '../local/client.ts';
import { realClock } from '../local/clock.ts';
import { applyManifests, readManifests } from '../manifests.ts';
import { eventsTable, fieldsTable } from '../pipelines/events-table.ts';
import { asyncApi } from './async-api.ts';
import { EventType, eventTypes } from './event-types.ts';

const types = Object.keys(facts);
const file = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');
const schemaFile = (type: string) => JSON.parse(file(`events/${type}.json`));

describe('the EventTypes', async () => {
  const server = await startApiServer({ clock: realClock });
  afterAll(server.close);
  const kube = clientOf(server);
  await applyManifests(kube, await readManifests('deploy/local/eventing/crds', 'deploy/base'));

  test('are one for each fact, at the Broker, and an API server takes each whole', async () => {
    await applyManifests(kube, eventTypes() as unknown as KubernetesObject[]);
    const taken = await kube.list(EventType);
    expect(taken.map(({ metadata }) => metadata.name).sort()).toEqual([...types].sort());
    for (const { metadata, spec } of taken) {
      expect(spec).toMatchObject({
        type: metadata.name,
        schema: schemaIdOf(metadata.name),
        description: schemaFile(metadata.name).description,
        reference: { apiVersion: 'eventing.knative.dev/v1', kind: 'Broker', name: 'default' },
      });
      expect(JSON.parse(spec.schemaData)).toEqual(schemaFile(metadata.name));
    }
  });

  test('come with the overlays for production and with the chart', () => {
    for (const name of ['event-types/event-types.yaml', 'chart/templates/event-types.yaml']) {
      for (const type of types) expect(file(name)).toContain(`name: ${type}\n`);
    }
  });
});

describe('the AsyncAPI document', () => {
  const document = asyncApi();
  type Any = Record<string, unknown>;

  function* objectsIn(value: unknown, path = '#'): Generator<[string, Any]> {
    if (typeof value !== 'object' || value === null) return;
    yield [path, value as Any];
    for (const [key, inner] of Object.entries(value)) yield* objectsIn(inner, `${path}/${key}`);
  }
  const at = (reference: string) =>
    reference
      .split('/')
      .slice(1)
      .reduce<unknown>((found, key) => (found as Any | undefined)?.[key], document);

  test('has what AsyncAPI 3.0 requires, and no reference in it leads nowhere', () => {
    expect(document).toMatchObject({
      asyncapi: '3.0.0',
      info: { title: expect.any(String), version: expect.any(String) },
    });
    const references = [...objectsIn(document)].filter(([, object]) => '$ref' in object);
    expect(references.length).toBeGreaterThan(2 * types.length);
    for (const [path, { $ref }] of references) expect(at(String($ref)), `${path}: ${$ref}`).toBeDefined();
    for (const { action, channel } of Object.values(document.operations)) {
      expect(['send', 'receive']).toContain(action);
      expect(channel.$ref).toMatch(/^#\/channels\//);
    }
  });

  test('says that we send each fact and receive publications, with the schemas of both', () => {
    const of = (action: string) =>
      Object.values(document.operations)
        .filter((operation) => operation.action === action)
        .flatMap(({ messages }) => messages.map(({ $ref }) => $ref.split('/').at(-1) ?? ''));
    expect(of('send').sort()).toEqual([...types].sort());
    expect(of('receive')).toEqual([imagePublished]);
    for (const [type, message] of Object.entries(document.components.messages)) {
      expect(message.payload).toMatchObject({ $id: schemaIdOf(type), required: schemaFile(type).required });
      expect(message.headers.properties).toMatchObject({ 'ce-type': { const: type } });
    }
  });

  test('is one of the files', () => {
    expect(JSON.parse(file('events/asyncapi.json'))).toEqual(document);
  });
});

describe("the consumers' guide", () => {
  test('has a line for each fact, with its meaning and the fields of its data', () => {
    for (const type of types) {
      const { description, properties } = schemaFile(type);
      const line = eventsTable()
        .split('\n')
        .find((one) => one.includes(`\`${type}\``));
      expect(line).toContain(description);
      for (const field of Object.keys(properties)) expect(line).toContain(`\`${field}\``);
    }
  });
  test('has a line for each field, with its meaning', () => {
    for (const type of types) {
      for (const [field, { description }] of Object.entries<{ description: string }>(schemaFile(type).properties))
        expect(fieldsTable()).toContain(`| \`${field}\` | ${description} |`);
    }
  });
});
