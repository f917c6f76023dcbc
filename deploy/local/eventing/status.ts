import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject, Resource } from '../../../shared/kinds/resource.ts';
import { toTime } from '../../../shared/kubernetes/time.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';

/** What an eventing object's status says beside Ready, and what keeps it from being ready. */
export interface Report {
  fields: Readonly<Record<string, unknown>>;
  trouble?: { reason: string; message: string } | undefined;
}

type Reported = KubernetesObject & { status?: Record<string, unknown> | undefined };

/**
 * Makes what writes reports into the status of objects, where they say something new, so that kubectl shows it.
 * Nothing depends on it, therefore a refused write is let be.
 */
export function reporter(kube: Pick<Kube, 'patch'>, now: () => number) {
  /** The last status written to each object, because the watch reports it later. */
  const said = new Map<string, string>();
  return async (resource: Resource, object: Reported, { fields, trouble }: Report): Promise<void> => {
    const ready = { type: 'Ready', status: trouble ? 'False' : 'True', ...trouble };
    const text = JSON.stringify([object.metadata.generation, fields, ready]);
    if (said.get(object.metadata.uid) === text || isSaid(object, fields, ready)) return;
    said.set(object.metadata.uid, text);
    const lastTransitionTime = toTime(now());
    const status = {
      ...fields,
      conditions: [{ ...ready, lastTransitionTime }],
      observedGeneration: object.metadata.generation,
    };
    await kube
      .patch(resource, object.metadata, { status }, { subresource: 'status' })
      .catch(() => said.delete(object.metadata.uid));
  };
}

function isSaid({ metadata, status }: Reported, fields: Report['fields'], ready: object) {
  if (status?.observedGeneration !== metadata.generation) return false;
  const [before] = Array.isArray(status?.conditions) ? status.conditions : [];
  const { lastTransitionTime: _, ...known } = { lastTransitionTime: undefined, ...before };
  const isSame = Object.entries(fields).every(([name, value]) => isDeepStrictEqual(status?.[name], value));
  return isSame && isDeepStrictEqual(known, ready);
}
