import type { Member, WorkspaceRow } from './view.ts';

/** A workspace as a picture: its networks are vertical lines, side by side, and each machine or container is a row that joins some of them. */
export interface NetworkPicture {
  width: number;
  height: number;
  networks: { name: string; cidr: string; phase: string; x: number; y: number }[];
  members: {
    member: Member;
    phase: string;
    x: number;
    y: number;
    joints: { x: number; network: string; address: string }[];
  }[];
}

/** Between the lines of two networks; many are closer to each other, so that a phone shows the machines beside them. */
const columnFor = (networks: number) => Math.max(7, Math.min(26, 160 / networks));
const labelHeight = 20;
const rowHeight = 38;
const margin = 14;
/** For a name right of a symbol: the least, where it begins, and for each character. */
const leastWidth = 180;
const nameAt = 38;
const characterWidth = 7.5;

/** Places what a workspace consists of; a network begins below the label of the one left of it, so that no label is crossed. */
export function pictureOf({ networks, members, components }: WorkspaceRow): NetworkPicture {
  const phaseOf = (kind: string, name: string) =>
    components.find((one) => one.kind === kind && one.name === name)?.phase ?? 'Waiting';
  const column = columnFor(networks.length);
  const lines = networks.map(({ name, cidr }, index) => ({
    ...{ name, cidr, phase: phaseOf('Network', name) },
    x: margin + index * column,
    y: margin + index * labelHeight,
  }));
  const xOf = new Map(lines.map(({ name, x }) => [name, x]));
  const top = margin + lines.length * labelHeight + rowHeight / 2;
  const x = margin + lines.length * column + 18;
  const longest = Math.max(
    0,
    ...lines.map((line) => `${line.name} ${line.cidr}`.length * characterWidth + line.x - x),
    ...members.map(({ name, interfaces }) => {
      const addresses = interfaces.map(({ address }) => address.split('/')[0]).join(', ');
      return nameAt + Math.max(name.length, addresses.length) * characterWidth;
    }),
  );
  return {
    width: x + Math.max(leastWidth, longest),
    height: top + members.length * rowHeight,
    networks: lines,
    members: members.map((member, index) => ({
      ...{ member, phase: phaseOf(member.kind, member.name), x },
      y: top + index * rowHeight + rowHeight / 4,
      joints: member.interfaces.flatMap(({ network, address }) => {
        const at = xOf.get(network);
        return at === undefined ? [] : [{ x: at, network, address }];
      }),
    })),
  };
}
