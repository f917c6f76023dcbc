import type { Changes, ClusterRow, Happening, ImageRow, MachineRow, ServerRow, View, WorkspaceRow } from '../view.ts';

let view: View = { cluster: {}, images: {}, machines: {}, servers: {}, workspaces: {}, pruned: {} };

const byId = <T extends HTMLElement = HTMLElement>(id: string) => document.getElementById(id) as T;

/** An element with its text or children. */
function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  of: Record<string, string | undefined> = {},
  ...inner: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(of)) if (value !== undefined) element.setAttribute(name, value);
  element.append(...inner);
  return element;
}

/** Shows the items as children, each under its key: equal items stay, with their focus, and the others are redrawn. */
function show<T>(parent: HTMLElement, items: readonly T[], keyOf: (item: T) => string, draw: (item: T) => HTMLElement) {
  const before = new Map([...parent.children].map((child) => [(child as HTMLElement).dataset.key ?? '', child]));
  items.forEach((item, index) => {
    const key = keyOf(item);
    const old = before.get(key) as HTMLElement | undefined;
    before.delete(key);
    const fresh = draw(item);
    fresh.dataset.key = key;
    const isSame = old?.outerHTML === fresh.outerHTML || (old !== undefined && takeOver(old, fresh));
    const child = isSame && old ? old : fresh;
    if (old && child !== old) old.replaceWith(child);
    if (parent.children[index] !== child) parent.insertBefore(child, parent.children[index] ?? null);
  });
  for (const gone of before.values()) gone.remove();
}

/** Puts what is new into the old element, where the focus is within it or it was opened; true where it did. */
function takeOver(old: HTMLElement, fresh: HTMLElement): boolean {
  const isOpen = old instanceof HTMLDetailsElement && old.open;
  if (fresh instanceof HTMLDetailsElement && isOpen) fresh.open = true;
  if (!old.contains(document.activeElement)) return false;
  const parts = [...old.querySelectorAll('td, span, progress, li')];
  const others = [...fresh.querySelectorAll('td, span, progress, li')];
  if (parts.length !== others.length) return false;
  parts.forEach((part, index) => {
    const other = others[index];
    if (other && !part.contains(document.activeElement) && part.outerHTML !== other.outerHTML) part.replaceWith(other);
  });
  return true;
}

const text = (id: string, words: string) => {
  const element = byId(id);
  if (element.textContent !== words) element.textContent = words;
};

const spans = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const;

/** "3 min", of milliseconds. */
function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  const [unit, size] = spans.find(([, each]) => seconds >= each) ?? ['s', 1];
  return `${Math.floor(seconds / size)} ${unit}`;
}
const since = (time: string) => duration(Date.now() - Date.parse(time));

const tones: Record<string, string> = {
  Succeeded: 'good',
  Ready: 'good',
  Running: 'good',
  Syncing: 'busy',
  Snapshotting: 'busy',
  Provisioning: 'busy',
  Queued: 'wait',
  Retrying: 'wait',
  Pending: 'wait',
  Waiting: 'wait',
  Failed: 'bad',
};
const phaseSpan = (phase: string) => h('span', { class: `phase ${tones[phase] ?? 'dim'}` }, phase || 'not seen yet');

const nameButton = (kind: string, key: string, words = key) => {
  const button = h('button', { class: 'name', type: 'button', 'data-kind': kind, 'data-object': key }, words);
  return button;
};

const describeBasis = ({ downloads, medianMs }: { downloads: number; medianMs: number }) =>
  downloads === 1
    ? `Forecast from the one download that is done: it took ${duration(medianMs)}.`
    : `Forecast from ${downloads} downloads that are done, ${duration(medianMs)} each in the middle.`;

/** CDI reports no progress of a qcow2 in S3 until the end; a late download never shows 100 %. */
function shareOf({ share, estimate }: ImageRow): number | undefined {
  if (share !== undefined || !estimate) return share;
  return Math.min(0.99, Math.max(0, (Date.now() - estimate.fromMs) / (estimate.toMs - estimate.fromMs)));
}

function formatShare(row: ImageRow | undefined): string {
  const share = row && shareOf(row);
  if (row === undefined || share === undefined) return 'CDI does not say how far';
  const percent = `${Math.round(share * 100)} %`;
  if (row.share !== undefined || !row.estimate) return percent;
  const leftMs = row.estimate.toMs - Date.now();
  return `~${percent}, ${leftMs > 0 ? `about ${duration(leftMs)} left` : 'late'}`;
}

/** Slots and queue. */
function drawDownloads({ slots, queue, basis }: ClusterRow) {
  const { total, held } = slots;
  text(
    'slots-line',
    held === undefined
      ? 'The Lease that holds the slots cannot be read; start-sync replaces it.'
      : total === 0
        ? `Paused: concurrency is 0. ${held.length} still at work.`
        : `${held.length} of ${total} slots are held.`,
  );
  show(
    byId('slots'),
    (held ?? []).map((slot, index) => ({ slot, index })),
    ({ slot, index }) => (view.images[slot.image] ? slot.image : String(index)),
    ({ slot }) => {
      const row = view.images[slot.image];
      const share = row && shareOf(row);
      const bar = h('progress', {
        max: '1',
        value: share === undefined ? undefined : String(share),
        'aria-label': `${slot.image}: ${formatShare(row)}`,
      });
      const words = `for ${since(slot.since)}${slot.attempt > 1 ? `, attempt ${slot.attempt}` : ''}; ${formatShare(row)}`;
      return h('li', {}, nameButton('images', slot.image), bar, h('span', { class: 'dim' }, words));
    },
  );
  const shown = 20;
  text(
    'basis',
    queue.length === 0
      ? 'No image waits.'
      : basis
        ? describeBasis(basis)
        : 'No forecast: no download is done yet that one could be made of.',
  );
  show(
    byId('queue'),
    queue.slice(0, shown).map((key, index) => ({ key, index })),
    ({ key, index }) => (view.images[key] ? key : String(index)),
    ({ key }) => {
      const row = view.images[key];
      if (!row) return h('li', {}, h('span', { class: 'dim' }, key));
      const when =
        row.startsAtMs === undefined
          ? ''
          : row.startsAtMs <= Date.now()
            ? 'next'
            : `in about ${duration(row.startsAtMs - Date.now())}`;
      const waited = row.queuedAt ? `waits for ${since(row.queuedAt)}` : '';
      return h(
        'li',
        {},
        nameButton('images', key),
        ' ',
        h('span', { class: 'dim' }, [waited, when].filter(Boolean).join(', ')),
      );
    },
  );
  text('queue-more', queue.length > shown ? `and ${queue.length - shown} more` : '');
}

interface Column<T> {
  title: string;
  /** What rows are sorted by. */
  by(row: T): string | number;
  cell(row: T, key: string): (Node | string)[];
  isMessage?: boolean;
}

const imageColumns: Column<ImageRow>[] = [
  { title: 'Image', by: (row) => `${row.namespace}/${row.name}`, cell: (_, key) => [nameButton('images', key)] },
  { title: 'Phase', by: (row) => row.phase, cell: (row) => [phaseSpan(row.phase)] },
  {
    title: 'How far',
    by: (row) => row.place ?? shareOf(row) ?? 0,
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
  { title: 'Age', by: (row) => row.createdAt, cell: (row) => [since(row.createdAt)] },
  { title: 'Message', by: (row) => row.message, cell: (row) => [row.message], isMessage: true },
];

const machineColumns: Column<MachineRow>[] = [
  { title: 'Machine', by: (row) => `${row.namespace}/${row.name}`, cell: (_, key) => [nameButton('machines', key)] },
  { title: 'Phase', by: (row) => row.phase, cell: (row) => [phaseSpan(row.phase)] },
  {
    title: 'Image',
    by: (row) => row.image,
    cell: (row) => [view.images[row.image] ? nameButton('images', row.image) : row.image],
  },
  { title: 'Address', by: (row) => row.ipAddress, cell: (row) => [row.ipAddress] },
  { title: 'Node', by: (row) => row.node, cell: (row) => [row.node] },
  { title: 'Age', by: (row) => row.createdAt, cell: (row) => [since(row.createdAt)] },
  { title: 'Message', by: (row) => row.message, cell: (row) => [row.message], isMessage: true },
];

const serverColumns: Column<ServerRow>[] = [
  { title: 'Machine', by: (row) => `${row.namespace}/${row.name}`, cell: (_, key) => [nameButton('servers', key)] },
  { title: 'Phase', by: (row) => row.phase, cell: (row) => [phaseSpan(row.phase)] },
  { title: 'Networks', by: (row) => row.networks, cell: (row) => [row.networks] },
  { title: 'Volumes', by: (row) => row.volumes.length, cell: (row) => [row.volumes.join(', ')] },
  { title: 'Host', by: (row) => row.node, cell: (row) => [row.node] },
  { title: 'Restarts', by: (row) => row.restarts, cell: (row) => [row.restarts > 0 ? String(row.restarts) : ''] },
  { title: 'Age', by: (row) => row.createdAt, cell: (row) => [since(row.createdAt)] },
  { title: 'Message', by: (row) => row.message, cell: (row) => [row.message], isMessage: true },
];

const pageSize = 50;

/** A table that can be searched, sorted and leafed through; only what is shown is in the page. */
function tableOf<T extends { namespace: string; name: string; phase: string; message: string }>(
  what: 'images' | 'machines' | 'servers',
  columns: readonly Column<T>[],
) {
  const section = document.querySelector(`[data-table="${what}"]`) as HTMLElement;
  const search = h('input', { type: 'search', id: `${what}-search`, autocomplete: 'off' });
  const phase = h('select', { id: `${what}-phase` }, h('option', { value: '' }, 'all'));
  const line = h('p', { id: `${what}-line`, role: 'status' });
  const body = h('tbody');
  const heads = columns.map(({ title }) => h('th', { scope: 'col' }, h('button', { type: 'button' }, title)));
  const back = h('button', { type: 'button' }, 'Back');
  const on = h('button', { type: 'button' }, 'On');
  const where = h('span');
  let sorted = { column: 0, down: false };
  let page = 0;
  section.append(
    h(
      'div',
      { class: 'tools' },
      h('label', { for: search.id }, 'Search'),
      search,
      h('label', { for: phase.id }, 'Phase'),
      phase,
    ),
    line,
    h('div', { class: 'wide' }, h('table', {}, h('thead', {}, h('tr', {}, ...heads)), body)),
    h('div', { class: 'tools' }, back, on, where),
  );
  const rowsShown = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = (Object.entries(view[what]) as unknown as [string, T][]).filter(
      ([key, row]) =>
        (phase.value === '' || row.phase === phase.value) &&
        words.every((word) => key.toLowerCase().includes(word) || row.message.toLowerCase().includes(word)),
    );
    const { by } = columns[sorted.column] as Column<T>;
    const keyed = found.map(([key, row]) => ({ key, row, by: by(row) }));
    const sign = sorted.down ? -1 : 1;
    return keyed.sort((a, b) => (a.by < b.by ? -sign : a.by > b.by ? sign : a.key < b.key ? -1 : 1));
  };
  const draw = () => {
    const all = Object.values(view[what]) as { phase: string }[];
    const phases = [...new Set(all.map((row) => row.phase))].sort();
    if (
      phases.join() !==
      [...phase.options]
        .slice(1)
        .map(({ value }) => value)
        .join()
    ) {
      const chosen = phase.value;
      phase.replaceChildren(
        h('option', { value: '' }, 'all'),
        ...phases.map((one) => h('option', { value: one }, one || 'not seen yet')),
      );
      phase.value = phases.includes(chosen) ? chosen : '';
    }
    const found = rowsShown();
    const pages = Math.max(1, Math.ceil(found.length / pageSize));
    page = Math.min(page, pages - 1);
    const words = found.length === all.length ? `${all.length} in all` : `${found.length} of ${all.length}`;
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
      ({ key, row }) =>
        h(
          'tr',
          {},
          ...columns.map((column) => h('td', column.isMessage ? { class: 'message' } : {}, ...column.cell(row, key))),
        ),
    );
  };
  const turn = (to: number) => {
    page = to;
    draw();
  };
  search.addEventListener('input', () => turn(0));
  phase.addEventListener('change', () => turn(0));
  back.addEventListener('click', () => turn(page - 1));
  on.addEventListener('click', () => turn(page + 1));
  heads.forEach((head, column) => {
    head.firstElementChild?.addEventListener('click', () => {
      sorted = { column, down: sorted.column === column && !sorted.down };
      draw();
    });
  });
  return draw;
}

const drawImages = tableOf<ImageRow>('images', imageColumns);
const drawMachines = tableOf<MachineRow>('machines', machineColumns);
const drawServers = tableOf<ServerRow>('servers', serverColumns);

/** Hidden without servers: most users have no OpenStack. */
const hasServers = () => Object.keys(view.servers).length > 0;

function drawWorkspaces() {
  const all = Object.entries(view.workspaces).sort(([a], [b]) => (a < b ? -1 : 1));
  text('workspaces-line', all.length === 0 ? 'No workspaces.' : '');
  show(
    byId('workspaces'),
    all,
    ([key]) => key,
    ([key, row]) =>
      h(
        'details',
        {},
        h(
          'summary',
          {},
          h('strong', {}, key),
          ' ',
          phaseSpan(row.phase),
          ' ',
          h('span', {}, row.ready),
          ' ',
          h('span', { class: 'dim' }, row.message),
        ),
        h('p', {}, nameButton('workspaces', key, 'What happened')),
        h('ul', {}, ...row.components.map(componentItem)),
      ),
  );
}

function componentItem({ kind, name, phase, reason, message }: WorkspaceRow['components'][number]) {
  const words = [reason, message].filter(Boolean).join(': ');
  return h('li', {}, `${kind} ${name} `, phaseSpan(phase), ' ', h('span', { class: 'dim' }, words));
}

function drawPruned() {
  const all = Object.entries(view.pruned).sort(([, a], [, b]) => (a.time < b.time ? 1 : -1));
  text('pruned-line', all.length === 0 ? 'None, as far as Kubernetes still has Events of it.' : '');
  show(
    byId('pruned'),
    all.slice(0, 50),
    ([key]) => key,
    ([, row]) => h('li', {}, h('strong', {}, `${row.namespace}/${row.name}`), ` ${since(row.time)} ago: ${row.why}`),
  );
}

function drawPolicy({ policy, faults }: ClusterRow) {
  const line = byId('policy-line');
  line.className = faults > 0 ? 'bad' : 'good';
  text(
    'policy-line',
    faults > 0
      ? `${faults} of its keys cannot be read: what depends on them starts nothing new.`
      : 'Every key can be read.',
  );
  show(
    byId('policy'),
    policy,
    ({ key }) => key,
    ({ key, value, isSet, fault }) =>
      h(
        'tr',
        {},
        h('td', {}, key),
        h('td', { class: 'message' }, value, ...(fault ? [h('p', { class: 'bad' }, fault)] : [])),
        h('td', { class: isSet ? '' : 'dim' }, isSet ? 'the ConfigMap' : 'default'),
      ),
  );
}

function drawSections() {
  const failed = (rows: Readonly<Record<string, { phase: string }>>) =>
    Object.values(rows).filter(({ phase }) => phase === 'Failed').length;
  const word = (count: number) => (count > 0 ? `, ${count} failed` : '');
  const links = [
    ['h-sync', 'Downloads', `${view.cluster.cluster?.queue.length ?? 0} waiting`],
    ['h-images', 'Images', `${Object.keys(view.images).length}${word(failed(view.images))}`],
    ['h-machines', 'Machines', `${Object.keys(view.machines).length}${word(failed(view.machines))}`],
    ['h-servers', 'On OpenStack', `${Object.keys(view.servers).length}${word(failed(view.servers))}`],
    ['h-workspaces', 'Workspaces', `${Object.keys(view.workspaces).length}${word(failed(view.workspaces))}`],
    ['h-pruned', 'Deleted', String(Object.keys(view.pruned).length)],
    ['h-policy', 'Policy', view.cluster.cluster?.faults ? 'invalid' : 'valid'],
  ] as const;
  show(
    byId('sections'),
    links.filter(([id]) => id !== 'h-servers' || hasServers()),
    ([id]) => id,
    ([id, title, count]) => h('li', {}, h('a', { href: `#${id}` }, title), ` ${count}`),
  );
}

let isDue = false;
/** Draws once for all changes that come before the next frame. */
function draw() {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    const { cluster } = view.cluster;
    if (cluster) {
      drawDownloads(cluster);
      drawPolicy(cluster);
    }
    drawImages();
    drawMachines();
    byId('h-servers').closest('section')?.toggleAttribute('hidden', !hasServers());
    drawServers();
    drawWorkspaces();
    drawPruned();
    drawSections();
  });
}

function apply(changes: Changes) {
  const next: Record<string, Record<string, unknown>> = { ...view } as never;
  for (const [section, change] of Object.entries(changes)) {
    const rows = { ...next[section], ...change?.set };
    for (const key of change?.gone ?? []) delete rows[key];
    next[section] = rows;
  }
  view = next as unknown as View;
}

function listen() {
  const source = new EventSource('changes');
  source.addEventListener('view', ({ data }) => {
    const told = JSON.parse(data) as { viewer: string; seesAnything: boolean; view: View };
    view = told.view;
    text('viewer', told.viewer);
    byId('nothing').hidden = told.seesAnything;
    text('link', 'Live');
    draw();
  });
  source.addEventListener('changes', ({ data }) => {
    apply(JSON.parse(data) as Changes);
    draw();
  });
  source.addEventListener('error', () => {
    text('link', 'Cut off; trying again …');
    // A browser gives up at any answer but a stream.
    if (source.readyState === EventSource.CLOSED) void goOn();
  });
}

/** The pause after a request without an answer. */
const retryMs = 5000;

/** Listens again; a token that has expired is asked for by the page itself. */
async function goOn() {
  const gone = new AbortController();
  const status = await fetch('changes', { signal: gone.signal }).then(
    (answer) => answer.status,
    () => 0,
  );
  gone.abort();
  if (status === 401) return location.reload();
  setTimeout(listen, status === 200 ? 0 : retryMs);
}

const dialog = byId<HTMLDialogElement>('happened');

/** A browser returns the focus to the element that had it, which may have been redrawn meanwhile. */
function goBackTo(button: HTMLElement) {
  const { kind = '', object = '' } = button.dataset;
  const section = button.closest('section');
  const again = () => {
    const same = `[data-kind="${kind}"][data-object="${CSS.escape(object)}"]`;
    if (!button.isConnected) section?.querySelector<HTMLElement>(same)?.focus();
  };
  dialog.addEventListener('close', again, { once: true });
}

document.addEventListener('click', async ({ target }) => {
  if (!(target instanceof HTMLElement)) return;
  const { kind, object } = target.dataset;
  if (!kind || !object) return;
  text('h-happened', `What happened to ${object}`);
  text('happened-line', 'Asking …');
  byId('happenings').replaceChildren();
  dialog.showModal();
  goBackTo(target);
  const [namespace, name] = object.includes('/') ? object.split('/') : ['-', object];
  const answer = await fetch(`happened/${kind}/${namespace}/${name}`);
  if (!answer.ok) return text('happened-line', `The history cannot be read: ${answer.status}`);
  const all = (await answer.json()) as Happening[];
  text('happened-line', all.length === 0 ? 'No history (Kubernetes keeps Events for an hour).' : '');
  byId('happenings').replaceChildren(
    ...all.map(({ time, what, message, isWarning }) =>
      h(
        'li',
        isWarning ? { class: 'warning' } : {},
        h('time', { datetime: time }, new Date(time).toLocaleString()),
        ' ',
        h('strong', {}, what),
        ' ',
        message,
      ),
    ),
  );
});

listen();
setInterval(draw, 5000);
