import { expect, test } from 'vitest';
import { probed } from './guest.ts';
import type { Probe } from './kinds.ts';

const aProbe = (more: Partial<Probe> = {}): Probe => ({
  guestAgentPing: {},
  initialDelaySeconds: 0,
  periodSeconds: 10,
  failureThreshold: 3,
  ...more,
});
const aGuest = { upMs: 1000, hungMs: undefined, hasAgent: true, agentMs: 50, wasReady: true, secondMs: 1 };
const readinessProbe = aProbe();
const livenessProbe = aProbe({ initialDelaySeconds: 600 });
const atPort = { readinessProbe: { ...aProbe(), guestAgentPing: undefined, tcpSocket: { port: 22 } } };

test.each([
  ['without a probe', {}, { hungMs: 90 }, { isReady: true, isAlive: true }],
  ['that boots', { readinessProbe }, { upMs: 49, wasReady: false }, { isReady: false, isAlive: true, waitMs: 1 }],
  ['that answers for the first time', { readinessProbe }, { wasReady: false }, { isReady: true, isAlive: true }],
  ['without an agent', { readinessProbe }, { hasAgent: false, wasReady: false }, { isReady: false, isAlive: true }],
  ['without an agent, asked at a port', atPort, { hasAgent: false, wasReady: false }, { isReady: true, isAlive: true }],
  ['that hangs for fewer checks', { readinessProbe }, { hungMs: 29 }, { isReady: true, isAlive: true, waitMs: 1 }],
  ['that hangs', { readinessProbe }, { hungMs: 30 }, { isReady: false, isAlive: true }],
  ['that has not recovered', { readinessProbe }, { hungMs: 9, wasReady: false }, { isReady: false, isAlive: true }],
  ['that has long to boot', { livenessProbe }, { upMs: 629, hasAgent: false }, { isAlive: true, waitMs: 1 }],
  ['that never answers', { livenessProbe }, { upMs: 630, hasAgent: false }, { isAlive: false }],
  ['that hangs later', { livenessProbe }, { hungMs: 30 }, { isAlive: false }],
  ['that answers', { livenessProbe }, {}, { isAlive: true }],
])('a guest %s', (_, probes, guest, expected) => {
  expect(probed(probes, { ...aGuest, ...guest })).toMatchObject(expected);
});
