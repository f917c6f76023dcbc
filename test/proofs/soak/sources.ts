import type { FaultRule } from '../../../deploy/local/cdi/faults.ts';
import { qcow2Buffer } from '../../../deploy/local/object-store/qcow2.ts';
import type { Spec, World } from '../../stories/world.ts';

/** A source of an image: the object's key below `images/`, and more fields of the spec. */
type Source = { key: string } & Partial<Omit<Spec, 'url'>>;

/** A good source more often than a failing one. */
export const sources: readonly [Source, ...Source[]] = [
  { key: 'good.qcow2' },
  { key: 'good-too.qcow2' },
  { key: 'good-again.qcow2' },
  { key: 'good-as-ever.qcow2' },
  { key: 'good-to-go.qcow2' },
  { key: 'flaps.qcow2' },
  { key: 'missing.qcow2' },
  { key: 'refused.qcow2' },
  { key: 'busy.qcow2' },
  { key: 'evicted.qcow2' },
  { key: 'killed.qcow2' },
  { key: 'drained.qcow2' },
  { key: 'good.qcow2', diskSize: '16Mi' },
];

/** The download faults of some sources. */
export const cdiFaults: readonly FaultRule[] = [
  { mode: 'flap', match: 'flaps' },
  { mode: 'evicted', match: 'evicted' },
  { mode: 'oom', match: 'killed' },
  { mode: 'drained', match: 'drained' },
];

const bytesPerSecond = 12 * 1024 * 1024;

/** Fills the store, and makes it refuse the failing sources. */
export async function fillStore({ store }: Pick<World, 'store'>): Promise<void> {
  store.limitTo(bytesPerSecond);
  const keys = new Set(sources.map(({ key }) => key));
  keys.delete('missing.qcow2');
  for (const key of keys) {
    const content = qcow2Buffer({ virtualBytes: 32 * 1024 * 1024, dataBytes: 2 * 1024 * 1024, seed: key });
    await store.put('images', key, content);
  }
  store.faults.push(
    { match: 'refused', mode: 'status', status: 403 },
    { match: 'busy', mode: 'status', status: 503, times: 40 },
  );
}
