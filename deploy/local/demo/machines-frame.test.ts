import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { type MachinesView, renderMachines } from './machines-frame.ts';

const view: MachinesView = {
  elapsedMs: 16_300,
  images: [
    { name: 'nixos-25.05', phase: undefined, references: undefined, remark: '' },
    { name: 'debian-12', phase: 'Terminating', references: 1, remark: 'found 1 machine: lab/db-2.' },
  ],
  machines: [
    { name: 'web-1', phase: 'Provisioning', image: 'nixos-25.05', ipAddress: '', remark: 'Waiting for its image.' },
    { name: 'odd-1', phase: 'Ready', image: 'debian-12', ipAddress: '10.0.0.1', remark: 'The machine runs.' },
    { name: 'db-1', phase: 'Gone', image: 'debian-12', ipAddress: '', remark: '' },
    { name: 'db-2', phase: '', image: 'debian-12', ipAddress: '', remark: 'applied' },
  ],
};

test('the display shows the counts, the images with their references, and a line for each machine', () => {
  expect(renderMachines(view, { columns: 80, colour: false })).toEqual([
    '16.3s  2 provisioning, 1 ready, 1 deleted',
    '',
    'IMAGE        PHASE        REFS',
    'nixos-25.05  not there',
    'debian-12    Terminating     1  found 1 machine: lab/db-2.',
    '',
    'MACHINE  PHASE         IMAGE        IP',
    'web-1    Provisioning  nixos-25.05            Waiting for its image.',
    'odd-1    Ready         debian-12    10.0.0.1  The machine runs.',
    'db-1     Gone          debian-12',
    'db-2     New           debian-12              applied',
  ]);
});

describe('the display', () => {
  const long = { ...view, machines: view.machines.map((machine) => ({ ...machine, remark: 'Waiting. '.repeat(20) })) };
  test.each([40, 80, 200])('fits %s columns', (columns) => {
    for (const line of renderMachines(long, { columns, colour: false }))
      expect([...line].length).toBeLessThanOrEqual(columns);
  });
  test('has the same words in colour', () => {
    const coloured = renderMachines(view, { columns: 80, colour: true });
    expect(coloured.join()).toContain('\u001b[');
    expect(coloured.map((line) => stripVTControlCharacters(line).trimEnd())).toEqual(
      renderMachines(view, { columns: 80, colour: false }),
    );
  });
});
