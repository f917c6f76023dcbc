import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { facts, schemaIdOf } from '../../shared/events.ts';
import { putImage } from './images.ts';
import { withTrigger } from './triggers.ts';
import { byName, createImage, type Story, untilPhase } from './world.ts';

interface Heard {
  id: unknown;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A webhook that is away at the first request, and takes all others. */
async function startWebhook() {
  const refused: Heard[] = [];
  /** By id: an event may come more than once. */
  const taken = new Map<unknown, Heard>();
  let look: () => void = () => undefined;
  const server = createServer(async (request, response) => {
    const { headers } = request;
    const heard = { id: headers['ce-id'], headers, body: await text(request) };
    const isAway = refused.length === 0;
    if (isAway) refused.push(heard);
    else taken.set(heard.id, heard);
    response.writeHead(isAway ? 503 : 204).end();
    look();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    refused,
    taken,
    /** Resolves once that many events are taken. */
    has: (count: number) =>
      new Promise<void>((resolve) => {
        look = () => void (taken.size >= count && resolve());
        look();
      }),
    close: () => server.close(),
  };
}

const example = async () =>
  parse(await readFile(new URL('../../deploy/pipelines/trigger-webhook.yaml', import.meta.url), 'utf8'));

export const stories = byName<Story>({
  'the example Trigger tells a webhook which images can be used and which have failed, in the form that their schemas say':
    {
      quick: true,
      localOnly: 'a webhook in this process is not reached from the Pods of a real Broker',
      run: async (world) => {
        const webhook = await startWebhook();
        const { metadata, spec } = await example();
        const trigger = { metadata, spec: { ...spec, subscriber: { uri: webhook.url } } };
        try {
          await withTrigger(world, trigger, async () => {
            await putImage(world, 'good');
            for (const name of ['good', 'missing']) await createImage(world, name);
            await untilPhase(world, 'good', 'Succeeded');
            await untilPhase(world, 'missing', 'Failed');
            await webhook.has(2);
          });
        } finally {
          webhook.close();
        }
        // What it refused came again.
        expect([...webhook.taken.keys()]).toContain(webhook.refused[0]?.id);
        const found = [...webhook.taken.values()].map(({ headers, body }) => {
          const type = String(headers['ce-type']) as keyof typeof facts;
          expect(headers).toMatchObject({ 'content-type': 'application/json', 'ce-dataschema': schemaIdOf(type) });
          const data = facts[type].strict().parse(JSON.parse(body));
          return [type, headers['ce-subject'], data.name];
        });
        const { namespace } = world;
        expect(found.sort()).toEqual([
          ['ot.pelotech.disk-image.failed.v1', `${namespace}/missing`, 'missing'],
          ['ot.pelotech.disk-image.succeeded.v1', `${namespace}/good`, 'good'],
        ]);
      },
    },
});
