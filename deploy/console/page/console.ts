import { filterIn, matches, searchWith } from '../filter.ts';
import { shareOf } from '../lanes.ts';
import type { Changes, ClusterRow, ObjectAt, View, WorkspaceRow } from '../view.ts';
import { drawCosts } from './costs.ts';
import { byId, h, show, text } from './dom.ts';
import { drawObject } from './object.ts';
import { workspacePanel } from './picture.ts';
import { imageColumns, machineColumns, serverColumns, states, tableOf } from './table.ts';
import { drawTimeline, pastIn, pastOptions } from './timeline.ts';
import { duration, formatShare, kindOf, nameLink, phaseSpan, since } from './words.ts';

let view: View = { cluster: {}, images: {}, machines: {}, servers: {}, workspaces: {}, pruned: {} };

const objectKinds = ['workspaces', 'machines', 'images', 'servers'] as const;

/** How many of each state there are, each a link that shows only these. */
function drawStates() {
  const all = objectKinds.flatMap((section) => Object.values(view[section]) as { state: string }[]);
  const { state: chosen } = filterIn(location.search);
  show(
    byId('states'),
    ['', ...states.filter((state) => state !== 'Hibernated' || all.some((row) => row.state === state))],
    (state) => state,
    (state) => {
      const count = state ? all.filter((row) => row.state === state).length : all.length;
      const href = location.pathname + searchWith(location.search, { state });
      const of = { href, 'data-state': state, 'aria-current': state === chosen ? 'true' : undefined };
      return h('li', {}, h('a', of, `${state || 'All'} ${count}`));
    },
  );
  const failed = all.filter(({ state }) => state === 'Failed').length;
  document.title = `${failed > 0 ? `${failed} failed · ` : ''}Images, machines, labs`;
}

interface Wrong {
  at: ObjectAt;
  row: { phase: string; state: string; message: string };
  affects: ObjectAt[];
}

/** Each first cause once, with what it keeps from being Ready. */
function wrongOnes(): Wrong[] {
  const wrong = new Map<string, Wrong>();
  for (const section of objectKinds)
    for (const [key, row] of Object.entries(view[section]) as [string, View['images'][string]][]) {
      const self = { section, key };
      if (!row.cause) continue;
      // The first cause may be an object that this user may not see.
      const { section: of, key: named } = row.cause;
      const cause = view[of][named] ? row.cause : self;
      const id = `${cause.section}/${cause.key}`;
      const one = wrong.get(id) ?? { at: cause, row: view[cause.section][cause.key] ?? row, affects: [] };
      if (cause.key !== key || cause.section !== section) one.affects.push(self);
      wrong.set(id, one);
    }
  const rank = ({ row, affects }: Wrong) => states.indexOf(row.state) * 1e6 - affects.length;
  return [...wrong.values()].sort((a, b) => rank(a) - rank(b));
}

const mostWrong = 6;

function drawWrong() {
  const { stopped, faults = 0 } = view.cluster.cluster ?? {};
  byId('stopped').hidden = !stopped;
  text('stopped', stopped ? `Nothing starts: ${stopped.why}. What would help: ${stopped.command}` : '');
  const wrong = wrongOnes();
  const rest = wrong.length - mostWrong;
  show(
    byId('wrong'),
    wrong.slice(0, mostWrong),
    ({ at }) => `${at.section}/${at.key}`,
    ({ at, row, affects }) =>
      h(
        'li',
        {},
        phaseSpan(row.phase),
        ` ${kindOf[at.section]} `,
        nameLink(at),
        h('span', { class: 'says' }, row.message),
        ...(affects.length > 0
          ? [
              h(
                'span',
                { class: 'dim' },
                `Waiting for it: ${affects
                  .slice(0, 4)
                  .map(({ section, key }) => `${kindOf[section].toLowerCase()} ${key}`)
                  .join(', ')}${affects.length > 4 ? ` and ${affects.length - 4} more` : ''}.`,
              ),
            ]
          : []),
      ),
  );
  text('wrong-more', rest > 0 ? `and ${rest} more; the lists below have these first.` : '');
  byId('wrong-policy').hidden = faults === 0;
  text('wrong-keys', describeFaults(faults));
  const isWell = wrong.length === 0 && !stopped && faults === 0 && view.cluster.cluster !== undefined;
  text('well', isWell ? 'Nothing is wrong.' : '');
}

const describeFaults = (faults: number) =>
  `has ${faults} ${faults === 1 ? 'key' : 'keys'} that cannot be read or that no one reads.`;

const describeBasis = ({ downloads, medianMs }: { downloads: number; medianMs: number }) =>
  downloads === 1
    ? `Forecast from the one download that is done: it took ${duration(medianMs)}.`
    : `Forecast from ${downloads} downloads that are done, median ${duration(medianMs)}.`;

const shownInQueue = 12;

function drawDownloads({ slots, queue, basis, stopped }: ClusterRow) {
  const { total, held } = slots;
  text(
    'slots-line',
    held === undefined
      ? 'The Lease that holds the slots cannot be read; start-sync replaces it.'
      : total === 0
        ? `Paused: concurrency is 0. ${held.length} still at work.`
        : held.length > total
          ? `${held.length} slots are still held, ${total} allowed.`
          : `${held.length} of ${total} slots are held.`,
  );
  const users = usersOfImages();
  show(
    byId('slots'),
    (held ?? []).map((slot, index) => ({ slot, index })),
    ({ slot, index }) => (view.images[slot.image] ? slot.image : String(index)),
    ({ slot }) => {
      const row = view.images[slot.image];
      const share = row && shareOf(row, Date.now());
      const bar = h('progress', { max: 1, value: share, 'aria-label': `${slot.image}: ${formatShare(row)}` });
      const words = `for ${since(slot.since)}${slot.attempt > 1 ? `, attempt ${slot.attempt}` : ''}; ${formatShare(row)}`;
      const name = row ? nameLink({ section: 'images', key: slot.image }) : slot.image;
      const why = [row?.message, describeUsers(users.get(slot.image))].filter(Boolean).join(' ');
      const message = why ? h('span', { class: 'says' }, why) : '';
      return h('li', {}, h('div', {}, name, ' ', h('span', { class: 'dim' }, words)), bar, message);
    },
  );
  text('slots-none', held?.length === 0 ? 'No download runs.' : '');
  text(
    'basis',
    queue.length === 0
      ? 'No image waits.'
      : stopped
        ? 'No forecast while nothing starts.'
        : basis
          ? describeBasis(basis)
          : 'No forecast: no download is done yet that one could be made of.',
  );
  show(
    byId('queue'),
    queue.slice(0, shownInQueue).map((key, index) => ({ key, index })),
    ({ key, index }) => (view.images[key] ? key : String(index)),
    ({ key }) => {
      const row = view.images[key];
      if (!row) return h('li', {}, h('span', { class: 'dim' }, key));
      const when = row.startsAtMs === undefined ? '' : startWords(row.startsAtMs);
      const waited = row.queuedAt ? `waits for ${since(row.queuedAt)}` : '';
      const why = [row.message, describeUsers(users.get(key))].filter(Boolean).join(' ');
      return h(
        'li',
        {},
        nameLink({ section: 'images', key }),
        ' ',
        h('span', { class: 'dim' }, [waited, when].filter(Boolean).join(', ')),
        h('span', { class: 'says' }, why),
      );
    },
  );
  text('queue-more', queue.length > shownInQueue ? `and ${queue.length - shownInQueue} more` : '');
}

const startWords = (startsAtMs: number) =>
  startsAtMs <= Date.now() ? 'next' : `in about ${duration(startsAtMs - Date.now())}`;

const describeUsers = (users: readonly string[] = []) => (users.length > 0 ? `For ${someOf(users)}.` : '');

const someOf = (names: readonly string[]) =>
  names.length > 3 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ');

/** The machines that wait, by their images. */
function usersOfImages(): ReadonlyMap<string, string[]> {
  const users = new Map<string, string[]>();
  for (const [key, { image, state }] of Object.entries(view.machines))
    if (state !== 'Ready') users.set(image, [...(users.get(image) ?? []), `machine ${key}`]);
  return users;
}

const drawImages = tableOf('images', imageColumns);
const drawMachines = tableOf('machines', machineColumns);
const drawServers = tableOf('servers', serverColumns);

/** Hidden without servers: most users have no OpenStack. */
const hasServers = () => Object.keys(view.servers).length > 0;

const shownWorkspaces = 20;

function drawWorkspaces() {
  const filter = filterIn(location.search);
  const entries = Object.entries(view.workspaces);
  const order = ([key, row]: [string, WorkspaceRow]) => `${states.indexOf(row.state)}${key}`;
  const all = entries.filter(([key, row]) => matches(filter, key, row)).sort((a, b) => (order(a) < order(b) ? -1 : 1));
  const hidden = all.length - shownWorkspaces;
  text(
    'workspaces-line',
    entries.length === 0
      ? 'No workspaces.'
      : `${all.length === entries.length ? `${all.length} in all` : `${all.length} of ${entries.length}`}${hidden > 0 ? `; the first ${shownWorkspaces} are shown, search for others` : ''}`,
  );
  show(
    byId('workspaces'),
    all.slice(0, shownWorkspaces),
    ([key]) => key,
    ([key, row]) =>
      h(
        'article',
        {},
        h(
          'h3',
          {},
          nameLink({ section: 'workspaces', key }),
          ' ',
          phaseSpan(row.phase),
          ' ',
          h('span', { class: 'dim' }, row.ready),
        ),
        h('p', {}, row.message),
        workspacePanel(row, view),
      ),
  );
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
  text('policy-line', faults > 0 ? `It ${describeFaults(faults)}` : 'Every key can be read.');
  show(
    byId('faults'),
    policy.filter(({ fault }) => fault),
    ({ key }) => key,
    ({ fault = '' }) => h('li', { class: 'bad' }, fault),
  );
  show(
    byId('policy'),
    policy,
    ({ key }) => key,
    ({ key, value, isSet }) =>
      h(
        'tr',
        {},
        h('td', { 'data-title': 'Key' }, key),
        h('td', { class: 'message', 'data-title': 'Value' }, value),
        h('td', { class: isSet ? '' : 'dim', 'data-title': 'From' }, isSet ? 'the ConfigMap' : 'default'),
      ),
  );
}

function drawSections() {
  const failed = (rows: Readonly<Record<string, { state: string }>>) =>
    Object.values(rows).filter(({ state }) => state === 'Failed').length;
  const word = (count: number) => (count > 0 ? `, ${count} failed` : '');
  const links = [
    ['h-sync', 'Downloads', `${view.cluster.cluster?.queue.length ?? 0} waiting`],
    ['h-workspaces', 'Workspaces', `${Object.keys(view.workspaces).length}${word(failed(view.workspaces))}`],
    ['h-images', 'Images', `${Object.keys(view.images).length}${word(failed(view.images))}`],
    ['h-machines', 'Machines', `${Object.keys(view.machines).length}${word(failed(view.machines))}`],
    ['h-servers', 'On OpenStack', `${Object.keys(view.servers).length}${word(failed(view.servers))}`],
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

let hasView = false;
let isDue = false;
/** Draws once for all changes that come before the next frame. */
function draw() {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    if (!hasView) return;
    const { cluster } = view.cluster;
    // A user whose rights were taken away is not shown what was there.
    for (const id of ['h-sync', 'h-policy']) byId(id).closest('section')?.toggleAttribute('hidden', !cluster);
    drawStates();
    drawWrong();
    if (cluster) {
      drawDownloads(cluster);
      drawTimeline(view, pastIn(location.search));
      drawCosts(cluster);
      drawPolicy(cluster);
    }
    drawLists();
    drawPruned();
    drawSections();
    drawObject(view);
  });
}

/** What the filter is about. */
function drawLists() {
  const filter = filterIn(location.search);
  drawWorkspaces();
  drawImages(view, filter);
  drawMachines(view, filter);
  byId('h-servers').closest('section')?.toggleAttribute('hidden', !hasServers());
  drawServers(view, filter);
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
    const told = JSON.parse(data) as { viewer: string; mayLogOut: boolean; seesAnything: boolean; view: View };
    view = told.view;
    hasView = true;
    text('viewer', told.viewer);
    byId('log-out').hidden = !told.mayLogOut;
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

const search = byId<HTMLInputElement>('search');
const past = byId<HTMLSelectElement>('past');
past.append(...pastOptions.map(([minutes, words]) => h('option', { value: minutes }, words)));

/** The controls as the address says, which is where what they say is kept. */
function readAddress() {
  const params = new URLSearchParams(location.search);
  if (search.value !== params.get('q')) search.value = params.get('q') ?? '';
  past.value = params.get('past') ?? '';
}

const address = (change: Record<string, string>) =>
  location.pathname + searchWith(location.search, change) + location.hash;

search.addEventListener('input', () => {
  history.replaceState(null, '', address({ q: search.value }));
  drawLists();
});
past.addEventListener('change', () => {
  history.pushState(null, '', address({ past: past.value }));
  draw();
});
byId('states').addEventListener('click', (event) => {
  const link = (event.target as Element).closest('a');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  history.pushState(null, '', link.href);
  draw();
});
byId('lanes-table').addEventListener('toggle', draw);
addEventListener('popstate', () => {
  readAddress();
  draw();
});

readAddress();
listen();
setInterval(draw, 5000);
