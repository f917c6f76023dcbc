import { common } from './common.ts';
import { imageReasons } from './images.ts';
import { machineReasons } from './machines.ts';
import { openStackReasons } from './openstack.ts';
import type { Row } from './row.ts';
import { workspaceReasons } from './workspaces.ts';

/** All reasons, by what they are about. */
export const reasonTable = {
  'Several kinds': common,
  VMDiskImage: imageReasons,
  VirtualMachine: machineReasons,
  Workspace: workspaceReasons,
  OpenStack: openStackReasons,
} as const satisfies Readonly<Record<string, Readonly<Record<string, Row>>>>;

/** A section of the table. */
export type About = keyof typeof reasonTable;

const rows: ReadonlyMap<string, Row> = new Map(
  Object.values(reasonTable).flatMap((section) => Object.entries(section)),
);

/**
 * The row of a reason; undefined for a word of another system. Of an object of one kind only the rows of that kind and of several kinds
 * count: OpenStack's NotFound is not an image's.
 */
export function rowOf(reason: string, about?: About): Exclude<Row, string> | undefined {
  const own: Readonly<Record<string, Row>> = { ...common, ...(about && reasonTable[about]) };
  const row = about ? own[reason] : rows.get(reason);
  return typeof row === 'string' ? { means: row, help: '' } : row;
}
