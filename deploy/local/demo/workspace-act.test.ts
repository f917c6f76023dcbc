import { expect, test } from 'vitest';
import {
  type Component,
  type ComponentKind,
  type ComponentPhase,
  Workspace,
} from '../../../shared/kinds/pelotech/workspace.ts';
import type { DemoWorld } from './set-up.ts';
import { type StepReport, watcher } from './watcher.ts';
import type { DemoWorkspace } from './workspace.ts';
import { playWorkspace } from './workspace-act.ts';

const component = (kind: ComponentKind, phase: ComponentPhase = 'Waiting', message = ''): Component => ({
  kind,
  name: 'data',
  phase,
  reason: '',
  message,
});
const fragile = component('Volume');
const world = { cluster: {}, store: { onBytes: () => () => {} } } as unknown as DemoWorld;
const lab = { name: 'lab', image: 'base', parts: [fragile], fragile } as unknown as DemoWorkspace;

/** The act, and what was reported of a lab that had these parts one after the other. */
function seeing(...states: [parts: Component[], metadata?: object][]) {
  const reports: StepReport[] = [];
  const report = (step: StepReport) => void reports.push(step);
  const seen = watcher(report);
  const act = playWorkspace(world, lab, {
    startedMs: 0,
    seen,
    report,
    command: () => {},
    signal: new AbortController().signal,
  });
  const watch = act.watches.find(({ kind }) => kind.kind === Workspace.kind);
  for (const [components, metadata] of states) {
    const object = Workspace.parse({
      apiVersion: Workspace.apiVersion,
      kind: Workspace.kind,
      metadata: { name: 'lab', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-11-22T00:00:00Z', ...metadata },
      spec: {},
      status: { phase: 'Provisioning', ready: '0/2', components },
    });
    if (watch) seen.see(watch, object);
  }
  return { act, reports: reports.map(({ kind, phase }) => `${kind} ${phase}`) };
}

test('each part takes a step where its phase is another, whatever other part has its name', () => {
  const { reports } = seeing(
    [[component('Volume', 'Provisioning'), component('VirtualMachine')]],
    [[component('Volume', 'Provisioning', 'Still.'), component('VirtualMachine')]],
    [[component('Volume', 'Ready'), component('VirtualMachine')]],
  );
  expect(reports).toEqual(['Volume Provisioning', 'VirtualMachine Waiting', 'Workspace Provisioning', 'Volume Ready']);
});

test('of a workspace that is being deleted its parts stay known as they were before', () => {
  const { act, reports } = seeing(
    [[component('Volume', 'Ready')]],
    [[component('VirtualMachine', 'Terminating')], { deletionTimestamp: '2026-11-22T00:00:01Z' }],
  );
  expect(act.result().parts.map(({ kind, phase }) => `${kind} ${phase}`)).toEqual(['Volume Ready']);
  expect(reports.slice(2)).toEqual(['VirtualMachine Terminating', 'Workspace Terminating']);
});

test('another workspace of that name begins anew', () => {
  const ready = [component('Volume', 'Ready')];
  const { reports } = seeing([ready], [ready, { uid: 'another' }]);
  expect(reports.filter((step) => step === 'Volume Ready')).toHaveLength(2);
});
