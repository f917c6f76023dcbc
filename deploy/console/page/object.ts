import type { Explanation, ObjectAt, View } from '../view.ts';
import { byId, h, put, text } from './dom.ts';
import { workspacePanel } from './picture.ts';
import { duration, imageLink, kindOf, nameLink, objectIn, phaseSpan, size } from './words.ts';

const dialog = byId<HTMLDialogElement>('object');
let shown: ObjectAt | undefined;

/** Shows the object that the address names, or none; what is asked of the server for it is asked once, and at each change of its phase. */
export function drawObject(view: View): void {
  const at = objectIn(location.hash);
  if (!at) {
    shown = undefined;
    if (dialog.open) dialog.close();
    focusAgain();
    return;
  }
  const row = view[at.section][at.key];
  const isOther = shown?.section !== at.section || shown.key !== at.key;
  if (isOther) {
    shown = at;
    told = undefined;
    text('h-object', `${kindOf[at.section]} ${at.key}`);
    byId('happenings').replaceChildren();
    byId('why').replaceChildren();
  }
  if (!dialog.open) {
    from = { link: document.activeElement, section: document.activeElement?.closest('section') };
    dialog.showModal();
  }
  const state = `${at.section}/${at.key}/${row?.phase}/${row?.message}`;
  if (told !== state) {
    told = state;
    void ask(at);
  }
  put(byId('object-facts'), ...factsOf(at, view));
  const workspace = at.section === 'workspaces' ? view.workspaces[at.key] : undefined;
  put(byId('object-picture'), ...(workspace ? [workspacePanel(workspace, view)] : []));
}
let told: string | undefined;

function factsOf({ section, key }: ObjectAt, view: View): Node[] {
  const row = view[section][key];
  if (!row) return [h('p', {}, 'It does not exist, or you may not list it.')];
  const facts: [string, (Node | string)[]][] = [['Phase', [phaseSpan(row.phase)]]];
  const fact = (name: string, words: string | number) => {
    if (words) facts.push([name, [String(words)]]);
  };
  if (row.cause && (row.cause.section !== section || row.cause.key !== key))
    facts.push(['First cause', [nameLink(row.cause)]]);
  if (section === 'images') {
    const image = view.images[key];
    fact('Size of its source', image?.bytes ? size(image.bytes) : '');
    fact('Revision', image?.revision ?? 0);
    fact('Place in the queue', image?.place ?? 0);
    fact('Used by', (image?.users ?? []).join(', '));
    fact(
      'Downloads',
      (image?.syncs ?? []).map(({ result, fromMs, toMs }) => `${result} after ${duration(toMs - fromMs)}`).join(', '),
    );
  }
  const machine = section === 'machines' ? view.machines[key] : undefined;
  if (machine) facts.push(['Cloned from', [imageLink(machine.image, view)]]);
  fact('Address', machine?.ipAddress ?? '');
  fact('Node', machine?.node ?? '');
  const server = section === 'servers' ? view.servers[key] : undefined;
  fact('Networks', server?.networks ?? '');
  fact('Ready', section === 'workspaces' ? (view.workspaces[key]?.ready ?? '') : '');
  fact('Created', new Date(row.createdAt).toLocaleString());
  fact('Message', row.message);
  return [h('dl', {}, ...facts.flatMap(([name, inner]) => [h('dt', {}, name), h('dd', {}, ...inner)]))];
}

async function ask({ section, key }: ObjectAt): Promise<void> {
  const where =
    section === 'workspaces' ? `-/${encodeURIComponent(key)}` : key.split('/').map(encodeURIComponent).join('/');
  const asked = told;
  const answer = await fetch(`happened/${section}/${where}`).catch(() => undefined);
  // Another object is shown by now.
  if (told !== asked) return;
  if (!answer?.ok) return text('object-line', `Its history cannot be read: ${answer?.status ?? 'no answer'}.`);
  const { why, happenings } = (await answer.json()) as Explanation;
  byId('why').replaceChildren(...(why.help ? whyOf(why) : []));
  text('object-line', happenings.length === 0 ? 'No history (Kubernetes keeps Events for an hour).' : '');
  byId('happenings').replaceChildren(
    ...happenings.map(({ time, what, message, isWarning }) =>
      h(
        'li',
        { class: isWarning ? 'warning' : undefined },
        h('time', { datetime: time }, new Date(time).toLocaleString()),
        ' ',
        h('strong', {}, what),
        ' ',
        message,
      ),
    ),
  );
}

const whyOf = ({ steps, help, commands }: Explanation['why']): Node[] => [
  // The first step is the message of the object.
  ...steps.slice(1).map(({ about, phase, says }) => h('p', {}, `because ${about} is ${phase}: ${says}`)),
  h('h3', {}, 'What would help'),
  h('p', {}, help),
  ...commands.map((command) => h('pre', {}, h('code', {}, command))),
];

/** Leads to the page without an object: back, if the page was there before. */
let isFromHere = false;
addEventListener('hashchange', ({ oldURL }) => {
  isFromHere = !objectIn(new URL(oldURL).hash);
});
dialog.addEventListener('close', () => {
  if (!objectIn(location.hash)) return;
  if (isFromHere) history.back();
  else {
    history.replaceState(null, '', location.pathname + location.search);
    shown = undefined;
    focusAgain();
  }
});

/** The link that led to the object, and where it was. */
let from: { link: Element | null; section: Element | null | undefined } | undefined;

/** The focus returns to the link, or to the one in its place: it may have been redrawn meanwhile. */
function focusAgain(): void {
  if (!from) return;
  const { link, section } = from;
  from = undefined;
  if (!(link instanceof HTMLElement) || !link.dataset.object) return;
  const { kind, object } = link.dataset;
  const same = `[data-kind="${kind}"][data-object="${CSS.escape(object)}"]`;
  const again = link.isConnected ? link : section?.querySelector<HTMLElement>(same);
  again?.focus({ preventScroll: true });
}
