import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { expect, test } from 'vitest';
import { giveAccount } from '../../deploy/local/openstack/account.ts';
import { startLocal } from '../../deploy/local/start.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import { Volume } from '../../shared/kinds/kupenstack/volume.ts';
import type { KubernetesObject, Resource } from '../../shared/kinds/resource.ts';
import { spanContextOf } from '../../shared/runtime/telemetry/telemetry.ts';
import { traceOf } from '../../shared/traces.ts';
import { publicKey } from '../stories/openstack/machines-life.ts';
import { leaveNothing, worldIn } from '../stories/openstack/run.ts';
import { schedules, services } from '../stories/openstack/services.ts';
import {
  createMachine,
  createNetwork,
  createVolume,
  isPhase,
  makeBootable,
  untilGone,
  untilMachine,
  untilSo,
} from '../stories/openstack/world.ts';
import { keptSpans, type ReadableSpan } from '../support/tools/spans.ts';

test('a machine, its network and its volume have a trace each, in which every call of theirs is with its request id', async () => {
  const openStack = await services();
  const { spans, shutdown } = await keptSpans();
  const tokens: string[] = [];
  const requestIds = new Set<string>();
  const noting: typeof fetch = async (url, init) => {
    const answer = await fetch(url, init);
    const token = answer.headers.get('x-subject-token');
    if (token) tokens.push(token);
    requestIds.add(answer.headers.get('x-openstack-request-id') ?? 'none');
    return answer;
  };
  const cluster = await startLocal({ openStack: true, simulators: false, schedules, fetchOpenStack: noting });
  try {
    const world = worldIn(cluster, openStack);
    const { kube, namespace } = world;
    await kube.create(Namespace, { metadata: { name: namespace } });
    await giveAccount(kube, openStack.login);
    await createNetwork(world, 'net');
    await createVolume(world, 'disk');
    const spec = { vcpu: 7, publicKey, virtualNetworks: ['net'], diskAttachments: [{ name: 'disk' }] };
    await createMachine(world, 'vm', spec);
    await makeBootable(world, 'disk');
    const lives = {
      machine: await untilMachine(world, 'vm', isPhase('Running')),
      network: await untilSo(world, VirtualNetwork, 'net', isPhase('Available')),
      volume: await untilSo(world, Volume, 'disk', isPhase('InUse')),
    };
    const gone: [Resource<KubernetesObject>, string][] = [
      [KupenStackMachine, 'vm'],
      [Volume, 'disk'],
      [VirtualNetwork, 'net'],
    ];
    for (const [kind, name] of gone) {
      await kube.delete(kind, { namespace, name });
      await untilGone(world, kind, name);
    }
    await leaveNothing(world);
    await cluster.close();

    const callsOf = (life: (typeof lives)[keyof typeof lives]) => {
      const { traceId } = spanContextOf(traceOf(life) as NonNullable<ReturnType<typeof traceOf>>);
      const own = spans.filter((span) => span.spanContext().traceId === traceId);
      const parentOf = (span: ReadableSpan) =>
        own.find((one) => one.spanContext().spanId === span.parentSpanContext?.spanId);
      const calls = own.filter(({ name }) => name.startsWith('openstack '));
      for (const call of calls) expect(parentOf(call)?.name).toMatch(/^call /);
      return [...new Set(calls.map(({ attributes }) => attributes['ot.openstack.operation']))].sort();
    };
    expect(callsOf(lives.machine)).toEqual(
      expect.arrayContaining([
        'createFlavor',
        'createKeyPair',
        'createPort',
        'createServer',
        'deleteServer',
        'deletePort',
      ]),
    );
    expect(callsOf(lives.network)).toEqual(expect.arrayContaining(['createNetwork', 'createSubnet', 'deleteNetwork']));
    expect(callsOf(lives.volume)).toEqual(expect.arrayContaining(['createVolume', 'deleteVolume']));

    const calls = spans.filter(({ name }) => name.startsWith('openstack '));
    expect(calls.length).toBeGreaterThan(20);
    for (const { kind, attributes, parentSpanContext, status } of calls) {
      expect(kind).toBe(SpanKind.CLIENT);
      expect(parentSpanContext).toBeDefined();
      expect(requestIds).toContain(attributes['ot.openstack.request.id']);
      const isRefused = Number(attributes['http.response.status_code']) >= 300;
      expect(status.code).toBe(isRefused ? SpanStatusCode.ERROR : SpanStatusCode.UNSET);
    }
    const told = JSON.stringify(spans.map(({ name, attributes, events, links }) => [name, attributes, events, links]));
    for (const secret of [openStack.login.password, ...tokens]) expect(told.includes(secret)).toBe(false);
  } finally {
    await cluster.close();
    await shutdown();
    await openStack.close();
  }
}, 120_000);
