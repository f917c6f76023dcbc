import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { type KubernetesEvent, timeOf } from '../cli/kubernetes-event.ts';
import type { Happening } from './view.ts';

/** The history of an object, the newest first: the facts in its status and its Kubernetes Events, each once. */
export function happened(image: VMDiskImage | undefined, events: readonly KubernetesEvent[]): Happening[] {
  const facts = (image?.status?.history ?? []).map(
    ({ time, fact, message }): Happening => ({
      time,
      what: fact,
      message,
      isWarning: fact === 'Failed' || fact === 'Retrying',
    }),
  );
  const inHistory = new Set(facts.map(({ message }) => message));
  const others = events
    .filter(({ message }) => !inHistory.has(message ?? ''))
    .map(
      (event): Happening => ({
        time: timeOf(event),
        what: event.reason ?? '',
        message: event.message ?? '',
        isWarning: event.type === 'Warning',
      }),
    );
  // As they came, and then turned round: of one second's facts the later is the newer.
  return [...facts, ...others].sort((a, b) => Date.parse(a.time) - Date.parse(b.time)).reverse();
}
