import { afterEach, expect, test, vi } from 'vitest';
import { Event } from '../../../shared/kinds/core/event.ts';
import { Secret } from '../../../shared/kinds/core/secret.ts';
import { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { keptSpans } from '../../support/tools/spans.ts';
import { untilEventAbout } from '../events.ts';
import { putImage } from '../images.ts';
import { leaked } from '../leaked.ts';
import { onLocalCluster } from '../local-world.ts';
import { createMachine, templateOf, untilMachine, untilReason } from '../machines.ts';
import { type Story, until, type World } from '../world.ts';

type Intercept = NonNullable<NonNullable<Story['local']>['intercept']>;

const plain = 'pw-that-a-webhook-quotes';
const hashed = '$6$salt$pw.that/a-webhook-quotes';
const later = 'pw-of-a-later-day';
const words = [plain, hashed, later];
const users = [
  { name: 'demo', plain_text_passwd: plain },
  { name: 'ops', hashed_passwd: hashed },
];
const ends: (() => Promise<unknown> | undefined)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** All that goes to a log, a trace or another's ears from now on. */
async function listening() {
  const { spans, shutdown } = await keptSpans();
  ends.push(shutdown);
  const levels = ['debug', 'info', 'log', 'warn', 'error'] as const;
  const logs = levels.map((level) => vi.spyOn(console, level).mockImplementation(() => undefined));
  const posts = vi.spyOn(globalThis, 'fetch');
  ends.push(async () => vi.restoreAllMocks());
  return {
    log: () => logs.flatMap(({ mock }) => mock.calls).map((line) => line.join(' ')),
    traces: () =>
      JSON.stringify(spans.map(({ name, attributes, events, status }) => [name, attributes, events, status])),
    domainEvents: (broker: string) =>
      posts.mock.calls.filter(([to]) => String(to) === broker).map(([, request]) => JSON.stringify(request)),
  };
}

/** Refuses the first writes of the cloud-init Secret, each after the one before, as a webhook that quotes what it was sent. */
function quoting(status: number, methods: readonly string[]) {
  const left = [...methods];
  const quoted: string[] = [];
  const says = (body: string) => {
    quoted.push(body);
    // A log has the first 500 characters of a message.
    return `admission webhook "policy.example.com" denied ${JSON.stringify((JSON.parse(body) as Secret).data)}`;
  };
  const intercept: Intercept = ({ method, path, user }) => {
    if (method !== left[0] || !path.includes('/secrets') || !user.endsWith(':provision-vm')) return undefined;
    left.shift();
    return { status, says };
  };
  return { intercept, quoted };
}

/** A machine with these passwords, on an image that is made for it. */
async function makeMachine(world: World): Promise<void> {
  await putImage(world, 'base');
  await createMachine(world, 'vm', 'base', { users, vmDiskImageTemplate: templateOf(world, 'base') });
}

async function nothingIsLeaked(world: World, heard: Awaited<ReturnType<typeof listening>>) {
  const { kube, namespace, broker } = world;
  const machine = await kube.get(VirtualMachine, { namespace, name: 'vm' });
  const events = [
    ...(await kube.list(Event, { namespace })),
    ...(await kube.list(Event, { namespace: 'sync-operator' })),
  ];
  const told = heard.domainEvents(broker);
  expect(events.length).toBeGreaterThan(0);
  expect(told.length).toBeGreaterThan(0);
  expect(heard.traces()).toContain('Secret');
  const places = {
    log: heard.log().join('\n'),
    traces: heard.traces(),
    events: JSON.stringify(events),
    status: JSON.stringify(machine?.status),
    'domain events': told.join('\n'),
    'other objects': JSON.stringify(world.history.changes()),
  };
  const leaks = Object.entries(places).map(([place, text]) => [place, leaked(text, words)]);
  expect(Object.fromEntries(leaks)).toEqual(Object.fromEntries(Object.keys(places).map((place) => [place, []])));
}

test('what the API server quotes of a Secret while it is not well (500) is in no log, trace, Event, status or domain event', async () => {
  const heard = await listening();
  const { intercept, quoted } = quoting(500, ['POST', 'POST', 'PUT', 'PUT']);
  await onLocalCluster({
    name: 'quoted with 500',
    local: { intercept },
    run: async (world) => {
      await makeMachine(world);
      await untilMachine(world, 'vm', 'Ready');
      const { kube, namespace } = world;
      const changed = { users: [...users, { name: 'late', plain_text_passwd: later }] };
      await kube.patch(VirtualMachine, { namespace, name: 'vm' }, { spec: changed });
      await until(world, Secret, { namespace, name: 'vm-cloud-init' }, (secret) =>
        leaked(JSON.stringify(secret), [later]).includes(later),
      );
      expect(leaked(quoted.join('\n'), words)).toEqual(words);
      expect(quoted).toHaveLength(4);
      await nothingIsLeaked(world, heard);
      const words500 = '500 InternalError: what the API server says of a Secret is not repeated';
      expect(heard.log().filter((line) => line.includes(words500)).length).toBeGreaterThanOrEqual(4);
    },
  });
}, 120_000);

test('what the API server quotes of a Secret that it refuses (422) is in none of them, and the machine says that it was refused', async () => {
  const heard = await listening();
  const { intercept, quoted } = quoting(422, ['POST', 'POST']);
  await onLocalCluster({
    name: 'quoted with 422',
    local: { intercept },
    run: async (world) => {
      await makeMachine(world);
      const { message } = await untilReason(world, 'vm', 'Ready', 'Rejected');
      await untilEventAbout(world, 'vm', 'Rejected');
      await untilMachine(world, 'vm', 'Ready');
      expect(leaked(quoted.join('\n'), words)).toEqual([plain, hashed]);
      await nothingIsLeaked(world, heard);
      expect(leaked(message, words)).toEqual([]);
      expect(message).toContain('Secret lab/vm-cloud-init was refused: Invalid.');
    },
  });
}, 120_000);
