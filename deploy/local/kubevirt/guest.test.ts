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
const aGuest = { upMs: 1000, hasAgent: true, agentMs: 50, hangs: undefined, probeSecondMs: 1 };
const readinessProbe = aProbe();
const livenessProbe = aProbe({ initialDelaySeconds: 600 });
const hangs = { fromMs: 100, toMs: 500 };

test.each([
  ['without a probe', {}, { upMs: undefined }, { isReady: true }],
  ['that is not up', { readinessProbe }, { upMs: undefined }, { isReady: false }],
  ['that boots', { readinessProbe }, { upMs: 49 }, { isReady: false, waitMs: 1 }],
  ['that answers', { readinessProbe }, {}, { isReady: true }],
  ['without an agent', { readinessProbe }, { hasAgent: false }, { isReady: false }],
  [
    'without an agent, asked at a port',
    { readinessProbe: { ...aProbe(), guestAgentPing: undefined, tcpSocket: { port: 22 } } },
    { hasAgent: false },
    { isReady: true },
  ],
  ['that hangs for fewer checks', { readinessProbe }, { upMs: 129, hangs }, { isReady: true, waitMs: 1 }],
  ['that hangs', { readinessProbe }, { upMs: 130, hangs }, { isReady: false, waitMs: 370 }],
  ['that answers again', { readinessProbe }, { upMs: 500, hangs }, { isReady: true }],
  ['that hangs from its start', { readinessProbe }, { upMs: 60, hangs: { fromMs: 0, toMs: 90 } }, { isReady: false }],
])('a guest %s', (_, probes, guest, expected) => {
  expect(probed(probes, { ...aGuest, ...guest })).toMatchObject({ ...expected, isAlive: true });
});

test.each([
  ['that boots for long', { upMs: 629, hasAgent: false }, true],
  ['that never answers', { upMs: 630, hasAgent: false }, false],
  ['that hangs later', { upMs: 1030, hangs: { fromMs: 1000, toMs: 9000 } }, false],
  ['that answers', {}, true],
])('a guest %s, and its liveness probe', (_, guest, isAlive) => {
  expect(probed({ readinessProbe, livenessProbe }, { ...aGuest, ...guest }).isAlive).toBe(isAlive);
});
