import { type Filter, matches } from '../filter.ts';
import { shareOf } from '../lanes.ts';
import type { ImageRow, MachineRow, ServerRow, View } from '../view.ts';
import { h, show } from './dom.ts';
import { duration, formatShare, imageLink, nameLink, phaseSpan, since } from './words.ts';

interface Column<T> {
  title: string;
  /** What rows are sorted by; empty cells are left out where rows are cards. */
  by(row: T): string | number;
  cell(row: T, key: string, view: View): (Node | string)[];
  isMessage?: boolean;
}

/** The most urgent first. */
export const states = ['Failed', 'under way', 'Hibernated', 'Ready'];
/** What is wrong is first; of one state what has trouble, then by phase. */
const urgency = (row: ImageRow | MachineRow | ServerRow) =>
  `${states.indexOf(row.state)}${row.cause ? 0 : 1}${row.phase}`;

const phaseColumn = { title: 'Phase', by: urgency, cell: (row: { phase: string }) => [phaseSpan(row.phase)] };
const ageColumn = {
  title: 'Age',
  by: (row: { createdAt: string }) => row.createdAt,
  cell: (row: { createdAt: string }) => [since(row.createdAt)],
};
const messageColumn = {
  title: 'Message',
  by: (row: { message: string }) => row.message,
  cell: (row: { message: string }) => [row.message],
  isMessage: true,
};

export const imageColumns: Column<ImageRow>[] = [
  {
    title: 'Image',
    by: (row) => `${row.namespace}/${row.name}`,
    cell: (_, key) => [nameLink({ section: 'images', key })],
  },
  phaseColumn,
  {
    title: 'How far',
    by: (row) => row.place ?? shareOf(row, Date.now()) ?? 0,
    cell: (row) => [
      row.place !== undefined
        ? `number ${row.place}`
        : row.phase === 'Syncing'
          ? formatShare(row)
          : row.isReady
            ? `revision ${row.revision}`
            : '',
    ],
  },
  { title: 'Attempts', by: (row) => row.attempts, cell: (row) => [row.attempts > 0 ? String(row.attempts) : ''] },
  {
    title: 'Used by',
    by: (row) => row.usedBy,
    cell: (row) => [
      row.usedBy > 0
        ? h('span', { title: row.users.join('\n') }, String(row.usedBy))
        : row.isKept
          ? 'unused, kept'
          : row.dueAtMs
            ? `unused, pruned ${row.dueAtMs < Date.now() ? 'now' : `in ${duration(row.dueAtMs - Date.now())}`}`
            : 'unused',
    ],
  },
  ageColumn,
  messageColumn,
];

export const machineColumns: Column<MachineRow>[] = [
  {
    title: 'Machine',
    by: (row) => `${row.namespace}/${row.name}`,
    cell: (_, key) => [nameLink({ section: 'machines', key })],
  },
  phaseColumn,
  {
    title: 'Image',
    by: (row) => row.image,
    cell: ({ image }, _, view) => [imageLink(image, view)],
  },
  { title: 'Address', by: (row) => row.ipAddress, cell: (row) => [row.ipAddress] },
  { title: 'Node', by: (row) => row.node, cell: (row) => [row.node] },
  ageColumn,
  messageColumn,
];

export const serverColumns: Column<ServerRow>[] = [
  {
    title: 'Machine',
    by: (row) => `${row.namespace}/${row.name}`,
    cell: (_, key) => [nameLink({ section: 'servers', key })],
  },
  phaseColumn,
  { title: 'Networks', by: (row) => row.networks, cell: (row) => [row.networks] },
  { title: 'Volumes', by: (row) => row.volumes.length, cell: (row) => [row.volumes.join(', ')] },
  { title: 'Host', by: (row) => row.node, cell: (row) => [row.node] },
  { title: 'Restarts', by: (row) => row.restarts, cell: (row) => [row.restarts > 0 ? String(row.restarts) : ''] },
  ageColumn,
  messageColumn,
];

const pageSize = 50;

/** A table that can be filtered, sorted and leafed through; only what is shown is in the page. */
export function tableOf<T extends ImageRow | MachineRow | ServerRow>(
  what: 'images' | 'machines' | 'servers',
  columns: readonly Column<T>[],
): (view: View, filter: Filter) => void {
  const section = document.querySelector(`[data-table="${what}"]`) as HTMLElement;
  const line = h('p', { id: `${what}-line`, role: 'status' });
  const body = h('tbody');
  const heads = columns.map(({ title }) => h('th', { scope: 'col' }, h('button', { type: 'button' }, title)));
  const back = h('button', { type: 'button' }, 'Back');
  const on = h('button', { type: 'button' }, 'On');
  const where = h('span');
  let sorted = { column: 1, down: false };
  let page = 0;
  let last: [View, Filter] | undefined;
  section.append(
    line,
    h('table', { class: 'cards' }, h('thead', {}, h('tr', {}, ...heads)), body),
    h('div', { class: 'tools' }, back, on, where),
  );
  const rowsShown = (view: View, filter: Filter) => {
    const found = (Object.entries(view[what]) as unknown as [string, T][]).filter(([key, row]) =>
      matches(filter, key, row),
    );
    const { by } = columns[sorted.column] as Column<T>;
    const keyed = found.map(([key, row]) => ({ key, row, by: by(row) }));
    const sign = sorted.down ? -1 : 1;
    return keyed.sort((a, b) => (a.by < b.by ? -sign : a.by > b.by ? sign : a.key < b.key ? -1 : 1));
  };
  const cellOf = (column: Column<T>, row: T, key: string, view: View) => {
    const inner = column.cell(row, key, view);
    const isEmpty = inner.every((one) => one === '');
    const kind = [column.isMessage ? 'message' : '', isEmpty ? 'empty' : ''].filter(Boolean).join(' ');
    return h('td', { class: kind || undefined, 'data-title': column.title }, ...inner);
  };
  const draw = (view: View, filter: Filter) => {
    if (last && (last[1].state !== filter.state || last[1].words !== filter.words)) page = 0;
    last = [view, filter];
    const all = Object.keys(view[what]).length;
    const found = rowsShown(view, filter);
    const pages = Math.max(1, Math.ceil(found.length / pageSize));
    page = Math.min(page, pages - 1);
    const words = found.length === all ? `${all} in all` : `${found.length} of ${all}`;
    if (line.textContent !== words) line.textContent = words;
    where.textContent = pages > 1 ? `page ${page + 1} of ${pages}` : '';
    back.disabled = page === 0;
    on.disabled = page === pages - 1;
    back.hidden = pages === 1;
    on.hidden = pages === 1;
    heads.forEach((head, index) => {
      if (index === sorted.column) head.setAttribute('aria-sort', sorted.down ? 'descending' : 'ascending');
      else head.removeAttribute('aria-sort');
    });
    show(
      body,
      found.slice(page * pageSize, (page + 1) * pageSize),
      ({ key }) => key,
      ({ key, row }) => h('tr', {}, ...columns.map((column) => cellOf(column, row, key, view))),
    );
  };
  const again = () => {
    if (last) draw(...last);
  };
  const turn = (to: number) => {
    page = to;
    again();
  };
  back.addEventListener('click', () => turn(page - 1));
  on.addEventListener('click', () => turn(page + 1));
  heads.forEach((head, column) => {
    head.firstElementChild?.addEventListener('click', () => {
      sorted = { column, down: sorted.column === column && !sorted.down };
      again();
    });
  });
  return draw;
}
