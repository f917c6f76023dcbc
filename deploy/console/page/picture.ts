import { pictureOf } from '../network-picture.ts';
import type { ComponentRow, View, WorkspaceRow } from '../view.ts';
import { h, svg } from './dom.ts';
import { nameLink, phaseSpan, shape, toneOf, urlOf } from './words.ts';

/** A workspace as a picture beside the list of its components. */
export const workspacePanel = (row: WorkspaceRow, view: View): HTMLElement =>
  h('div', { class: 'panel' }, pictureFigure(row, view), h('ul', { class: 'components' }, ...row.components.map(item)));

function item({ kind, name, phase, reason, message, at }: ComponentRow): HTMLElement {
  const words = [reason === phase ? '' : reason, message].filter(Boolean).join(': ');
  return h(
    'li',
    {},
    phaseSpan(phase),
    ' ',
    `${kind} `,
    at ? nameLink(at, name) : h('strong', {}, name),
    ' ',
    h('span', { class: 'dim' }, words),
  );
}

function pictureFigure(row: WorkspaceRow, view: View): HTMLElement {
  const { width, height, networks, members } = pictureOf(row);
  if (members.length === 0 && networks.length === 0)
    return h('p', { class: 'dim' }, 'It has no networks and no machines.');
  const words = members.map(
    ({ member, phase, joints }) =>
      `${member.name} is ${phase} and on ${joints.map(({ network }) => network).join(' and ') || 'no network'}`,
  );
  const bottomOf = (network: string, y: number) =>
    Math.max(
      y + 14,
      ...members.filter(({ joints }) => joints.some((one) => one.network === network)).map((one) => one.y),
    );
  return h(
    'div',
    // Wider than a phone it is scrolled, by keyboard, too.
    { class: 'picture', tabindex: width > 340 ? 0 : undefined },
    svg(
      'svg',
      {
        width,
        height,
        viewBox: `0 0 ${width} ${height}`,
        role: 'img',
        'aria-label': `${row.name}: ${words.join('; ')}`,
      },
      ...networks.map(({ name, cidr, phase, x, y }) =>
        svg(
          'g',
          { class: `network ${toneOf(phase)}` },
          svg('line', { x1: x, x2: x, y1: y, y2: bottomOf(name, y) }),
          svg('circle', { cx: x, cy: y, r: 3 }),
          svg('text', { x: x + 8, y: y + 4 }, `${name} ${cidr}`),
        ),
      ),
      ...members.map(({ member, phase, x, y, joints }) => {
        const component = row.components.find(({ kind, name }) => kind === member.kind && name === member.name);
        const addresses = joints.map(({ address }) => address.split('/')[0]).filter(Boolean);
        const known = component?.at && view.machines[component.at.key]?.ipAddress;
        const below = addresses.length > 0 ? addresses.join(', ') : (known ?? '');
        const drawing = [
          ...joints.map((joint) => svg('line', { class: 'joint', x1: joint.x, x2: x, y1: y, y2: y })),
          ...joints.map((joint) => svg('circle', { class: 'joint', cx: joint.x, cy: y, r: 4.5 })),
          ...outlineOf(member.kind, x, y),
          shape(toneOf(phase), { x: x + 9, y: y - 6 }),
          svg('text', { class: 'name', x: x + 38, y: below ? y - 2 : y + 4 }, member.name),
          svg('text', { class: 'address', x: x + 38, y: y + 12 }, below),
          svg('title', {}, `${member.kind} ${member.name}: ${phase}. ${component?.message ?? ''}`),
        ];
        const of = { class: `member ${toneOf(phase)}` };
        return component?.at
          ? svg('a', { ...of, href: urlOf(component.at), tabindex: -1 }, ...drawing)
          : svg('g', of, ...drawing);
      }),
    ),
  );
}

/** A machine is a screen, a container cluster a stack. */
const outlineOf = (kind: string, x: number, y: number): SVGElement[] =>
  kind === 'VirtualMachine'
    ? [
        svg('rect', { class: 'body', x, y: y - 11, width: 30, height: 22, rx: 2 }),
        svg('line', { class: 'body', x1: x + 8, x2: x + 22, y1: y + 14, y2: y + 14 }),
      ]
    : [
        svg('rect', { class: 'body', x: x + 4, y: y - 15, width: 26, height: 20, rx: 9 }),
        svg('rect', { class: 'body', x, y: y - 11, width: 30, height: 22, rx: 10 }),
      ];
