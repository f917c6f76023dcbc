import { describe, expect, test } from 'vitest';
import { Claim, Pod } from '../controller/kinds.ts';
import { launcherFinalizer, launcherScheduler } from './launcher-pod.ts';
import { running, unheard, waiting } from './launcher-status.ts';
import { nextForLauncher, type ObservedLauncher } from './launcher-step.ts';
import { defaultTimings } from './settings.ts';

const nowMs = Date.parse('2026-01-01T00:00:00Z');
const spec = { schedulerName: launcherScheduler, containers: [{ name: 'compute', image: 'launcher:1' }] };
const aPod = (status: object = {}, metadata: object = {}) =>
  Pod.parse({ metadata: { name: 'virt-launcher-pc', finalizers: [launcherFinalizer], ...metadata }, spec, status });
const aClaim = (phase: string, annotations: Record<string, string> = {}) =>
  Claim.parse({ metadata: { name: 'root', annotations }, spec: {}, status: { phase } });
const isWaiting = (reason: string) => aPod(waiting(aPod(), reason, undefined, nowMs));
const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z' };

const look = (also: Partial<ObservedLauncher>) =>
  nextForLauncher({
    pod: aPod(),
    claims: [],
    hasAllClaims: true,
    lateClaims: [],
    missingSecret: undefined,
    missingNetwork: undefined,
    isGuestUp: false,
    probed: { isReady: true, isAlive: true },
    unschedulableMs: 0,
    pullFails: false,
    crashes: false,
    upMs: 0,
    shutdownAfterMs: undefined,
    lostAfterMs: undefined,
    deletedMs: 0,
    graceMs: 50,
    stateMs: 1000,
    timings: defaultTimings,
    nowMs,
    ...also,
  });

type Status = NonNullable<Pod['status']>;
/** What it says of the Pod: phase and why its container waits. */
const reported = (also: Partial<ObservedLauncher>) => {
  const [write] = look(also).writes;
  if (write?.do !== 'patch' || write.subresource !== 'status') return undefined;
  const { phase, containerStatuses } = write.patch.status as Status;
  return [phase, containerStatuses?.[0]?.state?.waiting?.reason].filter(Boolean).join(' ');
};

describe('a launcher gets a node', () => {
  test('after a moment, and not while none takes it', () => {
    expect(look({ stateMs: 5 })).toEqual({ writes: [], waitMs: 15 });
    expect(reported({ unschedulableMs: 70 })).toBe('Pending');
    expect(look({ unschedulableMs: 70 }).waitMs).toBe(70);
    expect(reported({})).toBe('Pending ContainerCreating');
  });

  test('which the claims that wait for one are reported, and then are waited for', () => {
    const late = aClaim('Pending');
    expect(look({ claims: [late], lateClaims: [late] }).writes).toMatchObject([
      { do: 'patch', ref: { name: 'root' }, patch: { metadata: { annotations: {} } } },
    ]);
    const chosen = aClaim('Pending', { 'volume.kubernetes.io/selected-node': 'node' });
    expect(look({ claims: [chosen], lateClaims: [chosen] }).writes).toEqual([]);
    expect(look({ claims: [], hasAllClaims: false }).writes).toEqual([]);
    expect(reported({ claims: [aClaim('Bound')] })).toBe('Pending ContainerCreating');
  });
});

test.each<[string, Partial<ObservedLauncher>, string | undefined]>([
  ['runs', { pod: isWaiting('ContainerCreating') }, 'Running'],
  ['waits for a network', { pod: isWaiting('ContainerCreating'), missingNetwork: 'default/lan' }, undefined],
  ['waits for a Secret', { pod: isWaiting('ContainerCreating'), missingSecret: 'users' }, undefined],
  ['ends at once', { pod: isWaiting('ContainerCreating'), crashes: true }, 'Failed'],
  ['cannot be pulled', { pod: isWaiting('ContainerCreating'), pullFails: true }, 'Pending ErrImagePull'],
  ['waits for another pull', { pod: isWaiting('ErrImagePull') }, 'Pending ImagePullBackOff'],
  ['is pulled at last', { pod: isWaiting('ImagePullBackOff') }, 'Running'],
])('its container %s', (_, observed, expected) => {
  expect(reported(observed)).toBe(expected);
});

describe('a launcher that runs', () => {
  const pod = aPod(running(aPod(), true, nowMs));

  test('stays until its guest powers itself off', () => {
    expect(look({ pod, isGuestUp: true })).toEqual({ writes: [] });
    expect(look({ pod, isGuestUp: true, shutdownAfterMs: 30, upMs: 10 })).toEqual({ writes: [], waitMs: 20 });
    expect(reported({ pod, isGuestUp: true, shutdownAfterMs: 30, upMs: 30 })).toBe('Succeeded');
  });

  test('is not heard of any more when its node is lost, and removed in the end', () => {
    const [write] = look({ pod, isGuestUp: true, lostAfterMs: 0 }).writes;
    expect(write).toMatchObject({
      patch: {
        status: {
          conditions: expect.arrayContaining([
            expect.objectContaining({ type: 'Ready', status: 'False', reason: 'NodeNotReady' }),
          ]),
        },
      },
    });
    const lost = aPod(unheard(aPod(), nowMs));
    expect(look({ pod: lost, stateMs: 0 }).waitMs).toBe(2 * defaultTimings.nodeLostMs);
    expect(look({ pod: lost }).writes).toMatchObject([{ do: 'delete' }]);
  });

  test('is let go when its guest is down, which can take for ever', () => {
    const going = aPod(running(aPod(), true, nowMs), deleted);
    expect(look({ pod: going, deletedMs: 20 })).toEqual({ writes: [], waitMs: 30 });
    expect(look({ pod: going, deletedMs: 50 }).writes).toMatchObject([{ patch: { metadata: { finalizers: [] } } }]);
    expect(look({ pod: going, graceMs: undefined, deletedMs: 1e9 })).toEqual({ writes: [] });
    expect(look({ pod: aPod({}, deleted) }).writes).toMatchObject([{ patch: { metadata: { finalizers: [] } } }]);
  });
});
