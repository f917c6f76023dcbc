import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { renderWorkspace, type WorkspaceView } from './workspace-frame.ts';

const view: WorkspaceView = {
  elapsedMs: 21_300,
  name: 'lab',
  phase: 'Provisioning',
  ready: '1/2',
  remark: 'VirtualMachine vm: Waiting for VMDiskImage base.',
  parts: [
    { kind: 'Network', name: 'control-net', phase: 'Ready', reason: 'Ready', message: 'It is there.' },
    { kind: 'VirtualMachine', name: 'vm', phase: 'Waiting', reason: 'ImageNotReady', message: 'Waiting for base.' },
  ],
};

test('the display shows how much of the lab is ready, what it waits for, and a line for each part', () => {
  expect(renderWorkspace(view, { columns: 80, colour: false })).toEqual([
    '21.3s  lab  Provisioning  ██████████░░░░░░░░░░ 1/2',
    'VirtualMachine vm: Waiting for VMDiskImage base.',
    '',
    'PART            NAME         PHASE',
    'Network         control-net  Ready    It is there.',
    'VirtualMachine  vm           Waiting  Waiting for base.',
  ]);
});

test('before a function has looked at it, and when it is gone, there are no parts to count', () => {
  const empty = { ...view, ready: '', remark: 'applied', parts: [] };
  expect(renderWorkspace({ ...empty, phase: '' }, { columns: 80, colour: false })[0]).toBe('21.3s  lab  New');
  expect(renderWorkspace({ ...empty, phase: 'Gone' }, { columns: 80, colour: false })[0]).toBe('21.3s  lab  Gone');
});

describe('the display', () => {
  const long = { ...view, remark: 'Waiting. '.repeat(20) };
  test.each([40, 80, 200])('fits %s columns', (columns) => {
    for (const line of renderWorkspace(long, { columns, colour: false }))
      expect([...line].length).toBeLessThanOrEqual(columns);
  });
  test('has the same words in colour', () => {
    const coloured = renderWorkspace(view, { columns: 80, colour: true });
    expect(coloured.join()).toContain('\u001b[');
    expect(coloured.map((line) => stripVTControlCharacters(line).trimEnd())).toEqual(
      renderWorkspace(view, { columns: 80, colour: false }),
    );
  });
});
