import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { imagePublished } from '../../shared/events.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { operatorNamespace as namespace } from '../../shared/operator.ts';
import type { RecordedEvent } from './events.ts';
import { withTrigger } from './triggers.ts';
import { byName, type Story, type World, withKubectl } from './world.ts';

type Letter = RecordedEvent & { count: number };

const deadLetters = { namespace, fieldSelector: 'type=Warning,reason=DeadLetter' };

const lettersOf = async ({ kube }: World) => (await kube.list(Event, deadLetters)) as unknown as Letter[];

/** Resolves with the Event about dead letters that `isIt`, as soon as there is one; a function may have to start first. */
async function untilLetter(world: World, isIt: (letter: Letter) => boolean, withinMs = 50_000): Promise<Letter> {
  const over = AbortSignal.timeout(withinMs);
  while (!over.aborted) {
    const [page] = await Array.fromAsync(world.kube.pages(Event, deadLetters));
    let found = (page?.items as unknown as Letter[] | undefined)?.find(isIt);
    if (found) return found;
    const seen = new AbortController();
    const signal = AbortSignal.any([over, seen.signal]);
    const from = { ...deadLetters, resourceVersion: page?.resourceVersion ?? '', signal };
    await world.kube.watch(Event, from, ({ object }) => {
      const letter = object as unknown as Letter;
      if (!isIt(letter)) return;
      found = letter;
      seen.abort();
    });
    if (found) return found;
  }
  const messages = (await lettersOf(world)).map(({ message }) => message);
  throw new Error(`expected another Warning Event DeadLetter in ${namespace}, found ${JSON.stringify(messages)}`);
}

const about = (id: string) => (letter: Letter) => letter.message.includes(`(event ${id})`);

/** Posts an event of this type with this body, whatever it is; resolves with its id once the Broker has it. */
async function postOf(world: World, type: string, body: string): Promise<string> {
  const id = randomUUID();
  const headers = {
    'ce-specversion': '1.0',
    'ce-id': id,
    'ce-source': 'https://ci.example/pipelines/7',
    'ce-type': type,
    'content-type': 'application/json',
  };
  expect((await fetch(world.broker, { method: 'POST', headers, body })).status).toBe(202);
  return id;
}

const publish = (world: World, body: string) => postOf(world, imagePublished, body);

const malformed = '{"name":"Not A Name","secretRef":"hush"}';

/**
 * Posts events of this type until one is dead-lettered: a new Trigger calls itself Ready seconds before the dispatcher of a
 * real channel knows of it (measured on Knative 1.20), and earlier events are answered 202 and lost.
 */
async function letterOf(world: World, type: string): Promise<Letter> {
  for (let left = 10; left > 0; left--) {
    const isIt = about(await postOf(world, type, '{}'));
    const letter = await untilLetter(world, isIt, 6_000).catch(() => undefined);
    if (letter) return letter;
  }
  throw new Error(`expected a Warning Event DeadLetter for one of ten events of the type ${type}, found none`);
}

/** Runs with a Trigger of that name for events of a type of its own, whose subscriber does not exist. */
function withoutSubscriber(world: World, name: string, deadLetterSink: object, run: (type: string) => Promise<void>) {
  const type = `test.${name}.v1`;
  const spec = {
    broker: 'default',
    filters: [{ exact: { type } }],
    subscriber: { uri: 'http://127.0.0.1:1/' },
    delivery: { retry: 0, timeout: 'PT2S', ...deadLetterSink },
  };
  return withTrigger(world, { metadata: { namespace, name }, spec }, () => run(type));
}

export const stories: readonly Story[] = [
  ...byName<Story>({
    'a publication that preload refuses is shown at its Trigger with its faults, without a word of its data': {
      quick: true,
      smoke: true,
      run: async (world) => {
        const letter = await untilLetter(world, about(await publish(world, malformed)));
        expect(letter).toMatchObject({
          involvedObject: { kind: 'Trigger', name: 'preload' },
          source: { component: 'dead-letters' },
        });
        expect(letter.message).toContain(
          `preload answered 400 to ${imagePublished} from https://ci.example/pipelines/7`,
        );
        expect(letter.message).toContain('data: Unrecognized key: "secretRef"');
        expect(letter.message).toContain('It is lost unless its sender posts it again');
        expect(JSON.stringify(letter)).not.toMatch(/hush|Not A Name/);
      },
    },
    'data that cannot be read, or is too large, does not break its dead letter': {
      smoke: true,
      run: async (world) => {
        const unreadable = await untilLetter(world, about(await publish(world, '{"name":')));
        expect(unreadable.message).toContain('preload answered 400 to');
        expect(unreadable.message).toContain('data: expected JSON, found other text');
        const large = JSON.stringify({ name: 'x'.repeat(1536 * 1024) });
        const tooLarge = await untilLetter(world, about(await publish(world, large)));
        expect(tooLarge.message).toContain('preload answered 413 to');
      },
    },
    'many that are alike raise the count of one Event': {
      provesPermissions: {},
      smoke: true,
      run: async (world) => {
        const first = await untilLetter(world, about(await publish(world, malformed)));
        await Promise.all(Array.from({ length: 50 }, () => publish(world, malformed)));
        const last = await untilLetter(
          world,
          ({ message, count }) => count >= first.count + 50 && message.includes('400'),
        );
        expect(last.message).toMatch(/^\d+ times, last: preload answered 400/);
        const alike = (await lettersOf(world)).filter(({ message }) => message.includes('preload answered 400'));
        expect(alike).toHaveLength(1);
      },
    },
    'who gives no answer at all is known by the path of its dead letter sink': {
      smoke: true,
      run: (world) => {
        const name = 'nobody-answers';
        const ref = { apiVersion: 'v1', kind: 'Service', name: 'dead-letters' };
        return withoutSubscriber(world, name, { deadLetterSink: { ref, uri: `/${name}` } }, async (type) => {
          const letter = await letterOf(world, type);
          expect(letter.involvedObject).toMatchObject({ kind: 'Trigger', name });
          expect(letter.message).toContain(`${name} gave no answer (timeout or no connection) to ${type}`);
        });
      },
    },
    "a Trigger without a dead letter sink of its own has the Broker's, and its letters are shown there": {
      provesPermissions: {},
      smoke: true,
      run: (world) =>
        withoutSubscriber(world, 'nobody-named', {}, async (type) => {
          const letter = await letterOf(world, type);
          expect(letter.involvedObject).toMatchObject({ kind: 'Broker', name: 'default' });
          expect(letter.message).toContain(`gave no answer (timeout or no connection) to ${type}`);
        }),
    },
  }),
  ...withKubectl({
    'kubectl get events and kubectl describe trigger show what no function took': {
      smoke: true,
      run: async (world) => {
        const id = await publish(world, malformed);
        await untilLetter(world, about(id));
        const { out } = await world.kubectl('get', 'events', '-n', namespace, '--field-selector', 'reason=DeadLetter');
        expect(out).toMatch(
          new RegExp(
            `Warning +DeadLetter +trigger/preload +(\\d+ times, last: )?preload answered 400 to .*event ${id}`,
          ),
        );
        const described = await world.kubectl('describe', 'trigger', 'preload', '-n', namespace);
        expect(described.out).toMatch(new RegExp(`Warning +DeadLetter .* dead-letters +.*event ${id}`));
      },
    },
  }),
];
