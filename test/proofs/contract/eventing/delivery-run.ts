import { brokers, type DeliveryCase, deliveryCases, type Letter, type Others, type Reply } from './delivery-cases.ts';
import { comparable, type EventHeaders, eventOf } from './event.ts';
import type { Answer, Call, FunctionsUnderTest } from './functions-under-test.ts';
import { filled, postTo, type World } from './world.ts';

type Role = 'function' | keyof Others;

/** Each case has its own event type and its own functions, so that all of them can go on at once. */
const typeOf = (each: DeliveryCase) => `delivery-${deliveryCases.indexOf(each)}`;
const replyTypeOf = (each: DeliveryCase) => `${typeOf(each)}${each.others?.third ? suffixOf.third : suffixOf.second}`;
const suffixOf = { second: '.reply', third: '.third.reply' } as const;

function nameOf(each: DeliveryCase, role: Role = 'function'): string {
  if (role === 'second' || role === 'third') return `${role}/${replyTypeOf(each)}`;
  if (role === 'function' && !each.delivery) return `${each.broker ?? 'plain'}/${typeOf(each)}`;
  return `${typeOf(each)}-${role}`;
}

/** The address of a case's function, which cases without a delivery of their own share. */
const urlOf = ({ urlOf: at }: FunctionsUnderTest, each: DeliveryCase) =>
  at(each.delivery ? nameOf(each) : `${each.broker ?? 'plain'}/`);

const destinationOf = (functions: FunctionsUnderTest, each: DeliveryCase) =>
  each.answers ? urlOf(functions, each) : nobody(urlOf(functions, each));

const brokerLetters = 'delivery-broker-letters';
/** Nothing listens on the discard port. */
const nobody = (url: string) => url.replace(/:\d+\//, ':9/');

const addressesOf = ({ urlOf: at }: FunctionsUnderTest, each: DeliveryCase) => ({
  letters: at(nameOf(each, 'letters')),
  'letters path': `/${nameOf(each, 'letters')}`,
});

export const brokersOfCases = ({ functions }: World) =>
  Object.entries(brokers).map(([name, { annotations = {}, delivery }]) => ({
    metadata: { name, annotations },
    spec: { delivery: filled(delivery, { 'broker letters': functions.urlOf(brokerLetters) }) },
  }));

/** The Triggers of all cases: one for each delivery, and those that cases share because each costs a hop for every event. */
export function triggersOfCases({ functions }: World) {
  const trigger = (name: string, broker: string, filters: object[], uri: string, more: object = {}) => ({
    metadata: { name },
    spec: { broker, filters, subscriber: { uri }, ...more },
  });
  const own = deliveryCases.filter(({ delivery }) => delivery);
  const shared = [{ prefix: { type: 'delivery-' } }, { not: { suffix: { type: suffixOf.second } } }];
  const ofOwn = { any: own.map((each) => ({ exact: { type: typeOf(each) } })) };
  return [
    ...[...new Set(deliveryCases.filter(({ delivery }) => !delivery).map(({ broker = 'plain' }) => broker))].map(
      (broker) => trigger(broker, broker, [...shared, { not: ofOwn }], functions.urlOf(`${broker}/`)),
    ),
    ...(['second', 'third'] as const).map((role) =>
      trigger(role, 'plain', [{ suffix: { type: suffixOf[role] } }], functions.urlOf(`${role}/`)),
    ),
    ...own.map((each) => {
      const delivery = filled(each.delivery, addressesOf(functions, each));
      const filters = [{ exact: { type: typeOf(each) } }];
      return trigger(nameOf(each), each.broker ?? 'plain', filters, destinationOf(functions, each), { delivery });
    }),
  ];
}

/** Gives the functions of all cases their behaviour. */
export function behaveAsCasesSay({ functions }: World): void {
  for (const each of deliveryCases) {
    const roles = Object.entries({ function: each.answers, ...each.others }) as [Role, readonly Reply[] | undefined][];
    for (const [role, replies = []] of roles) {
      functions.behave(nameOf(each, role), (_, number) =>
        answerOf(each, functions, replies[Math.min(number, replies.length) - 1]),
      );
    }
  }
}

function answerOf(each: DeliveryCase, functions: FunctionsUnderTest, reply: Reply = { status: 204 }): Answer {
  const headers = eventOf(replyTypeOf(each), { 'ce-id': 'two' });
  if (reply === 'event')
    return { status: 200, headers: { ...headers, 'content-type': 'application/json' }, body: '{}' };
  if (reply === 'structured event') {
    const attributes = Object.entries(headers).map(([name, value]) => [name.slice('ce-'.length), value]);
    return {
      status: 200,
      headers: { 'content-type': 'application/cloudevents+json' },
      body: JSON.stringify({ ...Object.fromEntries(attributes), datacontenttype: 'application/json', data: {} }),
    };
  }
  if (typeof reply === 'object' && 'redirect' in reply) {
    return { status: reply.redirect, headers: { location: functions.urlOf(nameOf(each, 'target')) } };
  }
  return reply;
}

const body = '{"a": 1}';
const sentHeaders = (each: DeliveryCase): EventHeaders =>
  eventOf(typeOf(each), { 'content-type': 'application/json', 'ce-kind': 'Widget', ...each.headers });

/** What came of a case's event, in the words that the case has for what it expects. */
export interface Delivered {
  sender: number;
  calls: readonly Call[];
  of(role: keyof Others): readonly Call[];
  lettersOfBroker: readonly Call[];
}

/** Runs all cases, several at a time; each resolves with its outcome as soon as it has one. */
export function runDeliveries(world: World): Map<DeliveryCase, Promise<Delivered>> {
  const outcomes = new Map(deliveryCases.map((each) => [each, Promise.withResolvers<Delivered>()]));
  const left = [...outcomes];
  const work = async () => {
    for (let next = left.shift(); next; next = left.shift()) {
      const [each, { promise, resolve, reject }] = next;
      // The awaiter of the outcome gets the failure.
      await runDelivery(world, each).then(resolve, reject);
      await promise.catch(() => {});
    }
  };
  for (let index = 0; index < atATime; index++) void work();
  return new Map([...outcomes].map(([each, { promise }]) => [each, promise]));
}

/** More would starve a dispatcher on a small machine of processor, until its liveness probe kills it. */
const atATime = 8;

/** Posts the case's event and waits until everything about it is over. */
async function runDelivery(world: World, each: DeliveryCase): Promise<Delivered> {
  const { functions } = world;
  const response = await postTo(world, each.broker ?? 'plain', { headers: sentHeaders(each), body });
  // A synchronous Broker answers when all is over.
  if (each.broker === 'async') await functions.until(nameOf(each), ({ length }) => length >= each.calls);
  // The caller hangs up on its own time.
  if (each.hungUp) await functions.until(nameOf(each), (all) => all.every((call) => call.hungUpAtMs !== undefined));
  return {
    sender: response.status,
    calls: functions.callsOf(nameOf(each)),
    of: (role) => functions.callsOf(nameOf(each, role)),
    lettersOfBroker: functions.callsOf(brokerLetters).filter(({ headers }) => headers['ce-type'] === typeOf(each)),
  };
}

/** The headers of a case's reply as the functions that want it see them. */
export const replyHeaders = ({ namespace }: World, each: DeliveryCase): EventHeaders =>
  eventOf(replyTypeOf(each), {
    'ce-id': 'two',
    'ce-knativearrivaltime': 'a time',
    'content-type': 'application/json',
    'kn-namespace': namespace,
    prefer: 'reply',
  });

export function letterHeaders(
  { functions, namespace }: World,
  each: DeliveryCase,
  { error, by }: Letter,
): EventHeaders {
  const extensions = error && {
    'ce-knativeerrorcode': String(error.code),
    'ce-knativeerrordata': error.data,
    'ce-knativeerrordest': by === 'ingress' ? 'the Broker' : destinationOf(functions, each),
  };
  const ofBroker = { 'ce-knativearrivaltime': 'a time', 'ce-knativebrokerttl': '255', 'kn-namespace': namespace };
  return { ...sentHeaders(each), ...ofBroker, ...extensions };
}

/** A letter's headers, with the Broker's own address and words about connections made equal on all clusters. */
export function comparableLetter({ namespace }: World, { headers }: Call): EventHeaders {
  const same = comparable(headers);
  const dest = same['ce-knativeerrordest'];
  const data = Buffer.from(same['ce-knativeerrordata'] ?? '', 'base64').toString();
  return {
    ...same,
    ...(dest?.endsWith(`/${namespace}/plain`) ? { 'ce-knativeerrordest': 'the Broker' } : {}),
    ...(data.startsWith(`dispatch error: Post "${dest}": `) ? { 'ce-knativeerrordata': 'dispatch error' } : {}),
  };
}

export const letterBody = body;
