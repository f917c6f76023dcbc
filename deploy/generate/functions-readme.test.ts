import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { loadFunctions } from '../../knative/functions.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { KubeVirtMachine } from '../../shared/kinds/kubevirt/virtual-machine.ts';
import {
  machineConditions,
  VirtualMachine,
  VirtualMachineStatus,
} from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage, VMDiskImageStatus } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace, WorkspaceStatus } from '../../shared/kinds/pelotech/workspace.ts';

describe('"Who writes what"', async () => {
  const text = await readFile(new URL('../../functions/README.md', import.meta.url), 'utf8');
  /** What is stated, and of whom, in the table of that heading. */
  const rowsOf = (heading: string) => {
    const [, table = ''] = new RegExp(`^\\| ${heading} \\| writer \\|\n.*\n((\\|.*\n)+)`, 'm').exec(text) ?? [];
    return table.split('\n').map((row) => row.split('|').slice(1, 3));
  };
  const said = (heading: string) =>
    rowsOf(heading).flatMap(([what = '']) => [...what.matchAll(/`([^`]+)`/g)].map(([, word]) => word));

  test('names every field of both statuses, and every condition of a machine', () => {
    const fieldsOf = ({ shape }: { shape: object }) => Object.keys(shape).filter((field) => field !== 'conditions');
    expect(said('of a VMDiskImage')).toEqual(expect.arrayContaining(fieldsOf(VMDiskImageStatus)));
    expect(said('of a VirtualMachine')).toEqual(
      expect.arrayContaining([...fieldsOf(VirtualMachineStatus), ...machineConditions]),
    );
    expect(said('of a Workspace')).toEqual(expect.arrayContaining(fieldsOf(WorkspaceStatus)));
  });

  const tables = new Map(
    [VMDiskImage, VirtualMachine, Workspace].map((kind) => [`${kind.apiVersion} ${kind.kind}`, kind.kind]),
  );
  const nameOf = ({ apiVersion, kind }: { apiVersion: string; kind: string }) =>
    apiVersion === KubeVirtMachine.apiVersion ? `KubeVirt ${kind}` : kind;
  const writes = (await loadFunctions()).flatMap(({ name, may }) =>
    may
      // Who may bind a role writes nothing to it.
      .filter(({ verbs }) => verbs.some((verb) => !['get', 'list', 'watch', 'bind'].includes(verb)))
      // Each function records what it does; a subresource like CDI's `source` is none that is kept.
      .filter(({ resource, subresource }) => resource !== Event && (subresource ?? 'status') === 'status')
      .map(({ resource }) => ({
        name,
        kind: nameOf(resource),
        table: tables.get(`${resource.apiVersion} ${resource.kind}`),
      })),
  );
  test.each(writes)('says what $name writes of a $kind', ({ name, kind, table }) => {
    const rows = table ? rowsOf(`of a ${table}`) : rowsOf('of others').filter(([what = '']) => what.includes(kind));
    expect(rows.some(([, writer]) => writer?.includes(`\`${name}\``))).toBe(true);
  });
});
