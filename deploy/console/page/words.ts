import { shareOf } from '../lanes.ts';
import type { ImageRow, ObjectAt, View } from '../view.ts';
import { h, svg } from './dom.ts';

const spans = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const;

/** "3 min", of milliseconds. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  const [unit, size] = spans.find(([, each]) => seconds >= each) ?? ['s', 1];
  return `${Math.floor(seconds / size)} ${unit}`;
}
export const since = (time: string) => duration(Date.now() - Date.parse(time));

/** "24 Gi": at most one decimal. */
export function size(bytes: number): string {
  const [unit, factor] = (['Ti', 'Gi', 'Mi', 'Ki'] as const)
    .map((suffix, index) => [suffix, 2 ** (40 - 10 * index)] as const)
    .find(([, least]) => bytes >= least) ?? ['B', 1];
  return `${Math.round((bytes / factor) * 10) / 10} ${unit}`;
}

// Made once: to make one takes a fifth of a millisecond, and a page has hundreds of times.
const times = new Intl.DateTimeFormat([], { hour: '2-digit', minute: '2-digit' });
export const clock = (ms: number) => times.format(ms);

const tones: Readonly<Record<string, Tone>> = {
  Succeeded: 'good',
  Ready: 'good',
  Running: 'good',
  Available: 'good',
  InUse: 'good',
  Syncing: 'busy',
  Snapshotting: 'busy',
  Provisioning: 'busy',
  Creating: 'busy',
  Starting: 'busy',
  Queued: 'wait',
  Pending: 'wait',
  Waiting: 'wait',
  Retrying: 'warn',
  Failed: 'bad',
  Terminating: 'leaving',
  Scheduled: 'wait',
};
export type Tone = 'good' | 'busy' | 'wait' | 'warn' | 'bad' | 'leaving' | 'dim';
export const toneOf = (phase: string): Tone => tones[phase] ?? 'dim';

/** A state as a shape, for those who do not tell its colour; 12 by 12, in the colour of the text. */
const shapes: Readonly<Record<Tone, string>> = {
  good: 'M6 .5a5.5 5.5 0 1 1 0 11a5.5 5.5 0 1 1 0-11zM5 8.7l4-4.2-.9-.9L5 6.8 3.7 5.5l-.9.9z',
  busy: 'M6 .5a5.5 5.5 0 1 1 0 11a5.5 5.5 0 1 1 0-11zM6 2a4 4 0 0 1 0 8z',
  wait: 'M6 .5a5.5 5.5 0 1 1 0 11a5.5 5.5 0 1 1 0-11zM6 2a4 4 0 1 0 0 8a4 4 0 1 0 0-8z',
  warn: 'M6 .5L11.8 11.2H.2zM5.3 4.2v3.6h1.4V4.2zM5.3 8.6V10h1.4V8.6z',
  bad: 'M1 1h10v10H1zM3.4 2.5L6 5.1l2.6-2.6.9.9L6.9 6l2.6 2.6-.9.9L6 6.9 3.4 9.5l-.9-.9L5.1 6 2.5 3.4z',
  leaving: 'M.2 .8H11.8L6 11.5zM2.7 2.2L6 8.4l3.3-6.2z',
  dim: 'M1 5h10v2H1z',
};
export const shape = (tone: Tone, of: Record<string, string | number> = {}) =>
  svg(
    'svg',
    { class: `shape ${tone}`, viewBox: '0 0 12 12', width: 12, height: 12, 'aria-hidden': 'true', ...of },
    svg('path', { 'fill-rule': 'evenodd', d: shapes[tone] }),
  );

export const phaseSpan = (phase: string) =>
  h('span', { class: `phase ${toneOf(phase)}` }, shape(toneOf(phase)), phase || 'New');

/** What the objects of a section are called. */
export const kindOf = {
  workspaces: 'Workspace',
  machines: 'Machine',
  images: 'Image',
  servers: 'Machine on OpenStack',
};

export const urlOf = ({ section, key }: ObjectAt) => `#/${section}/${key.split('/').map(encodeURIComponent).join('/')}`;

/** The object that the address of the page names; undefined if it names none. */
export function objectIn(hash: string): ObjectAt | undefined {
  const found = /^#\/(images|machines|servers|workspaces)\/(.+)$/.exec(hash);
  if (!found) return undefined;
  try {
    const key = (found[2] ?? '').split('/').map(decodeURIComponent).join('/');
    const section = found[1] as ObjectAt['section'];
    // Each key but a workspace's has a namespace; the name of a member of every object is no key.
    return key in {} || (section !== 'workspaces' && !key.includes('/')) ? undefined : { section, key };
  } catch {
    return undefined;
  }
}

export const nameLink = (at: ObjectAt, words = at.key) =>
  h('a', { class: 'name', href: urlOf(at), 'data-kind': at.section, 'data-object': at.key }, words);

/** The name of an image, as a link only to what is shown: the user may not list its namespace. */
export const imageLink = (key: string, view: View) => (view.images[key] ? nameLink({ section: 'images', key }) : key);

/** How far a download is. */
export function formatShare(row: ImageRow | undefined): string {
  const share = row && shareOf(row, Date.now());
  if (row === undefined || share === undefined) return 'CDI does not say how far';
  const percent = `${Math.round(share * 100)} %`;
  if (row.share !== undefined || !row.estimate) return percent;
  const leftMs = row.estimate.toMs - Date.now();
  return `~${percent}, ${leftMs > 0 ? `about ${duration(leftMs)} left` : 'late'}`;
}
