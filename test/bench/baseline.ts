import { setTimeout as sleep } from 'node:timers/promises';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import type { Kube } from '../../shared/runtime/kube.ts';

/** The least that handing a slot on can cost: what a GET + PUT + POST takes, in milliseconds. */
export interface Baseline {
  /** This many, one straight after the other. */
  measure(count: number): Promise<number[]>;
  /** One every `everyMs`, beside other work, until it is stopped. */
  start(everyMs: number): { stop(): Promise<number[]> };
}

const namespace = 'bench-baseline';
const lease = { namespace, name: 'slots' };

/** GET a Lease, PUT it, POST a DataVolume, through the client the functions use; none of it wakes a function. */
export async function baselineOn(kube: Kube): Promise<Baseline> {
  await kube.create(Namespace, { metadata: { name: namespace } });
  await kube.create(Lease, { metadata: lease, spec: { holderIdentity: 'bench' } });
  let nth = 0;
  const once = async () => {
    const startedMs = performance.now();
    await getPutPost(kube, nth++);
    return performance.now() - startedMs;
  };
  return {
    measure: (count) => Array.fromAsync({ length: count }, once),
    start(everyMs) {
      const abort = new AbortController();
      const running = repeat(once, everyMs, abort.signal);
      return {
        stop: () => {
          abort.abort();
          return running;
        },
      };
    },
  };
}

async function repeat(once: () => Promise<number>, everyMs: number, signal: AbortSignal): Promise<number[]> {
  const took: number[] = [];
  while (!signal.aborted) {
    took.push(await once());
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
  }
  return took;
}

async function getPutPost(kube: Kube, nth: number) {
  const found = await kube.get(Lease, lease);
  if (!found) throw new Error('expected the Lease of the baseline, found none: it was deleted');
  const renewTime = new Date().toISOString().replace('Z', '000Z');
  await kube.replace(Lease, { ...found, spec: { ...found.spec, renewTime } });
  await kube.create(DataVolume, dataVolume(nth));
}

/** As large as a real DataVolume, but without the label that the source of CDI's kinds selects. */
const dataVolume = (nth: number) => ({
  apiVersion: DataVolume.apiVersion,
  kind: DataVolume.kind,
  metadata: {
    name: `image-${nth}-00000000-r1-a1`,
    namespace,
    labels: { 'pelotech.ot/revision': '1', 'pelotech.ot/attempt': '1' },
    annotations: { 'cdi.kubevirt.io/storage.bind.immediate.requested': 'true' },
  },
  spec: {
    source: { s3: { url: `https://s3.eu-west-1.amazonaws.com/images/image-${nth}.qcow2`, secretRef: 's3-reader' } },
    storage: { storageClassName: 'gp3', resources: { requests: { storage: '64Mi' } } },
  },
});
