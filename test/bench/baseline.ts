import { setTimeout as sleep } from 'node:timers/promises';
import { DataVolume } from '../../shared/resources/cdi/data-volume.ts';
import { Lease } from '../../shared/resources/coordination/lease.ts';
import { defineResource } from '../../shared/resources/resource.ts';
import type { Kube } from '../../shared/runtime/kube.ts';

/** The least that handing a slot on can cost, measured again and again while something else goes on. */
export interface Baseline {
  /** Ends it and hands back what each GET + PUT + POST took, in milliseconds. */
  stop(): Promise<number[]>;
}

const Namespace = defineResource({ apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false }, {});
const namespace = 'bench-baseline';
const lease = { namespace, name: 'slots' };

/** GET a Lease, PUT it, POST a DataVolume, every `everyMs`, through the client the functions use; none of it wakes a function. */
export async function startBaseline(kube: Kube, everyMs: number): Promise<Baseline> {
  await kube.create(Namespace, { metadata: { name: namespace } });
  await kube.create(Lease, { metadata: lease, spec: { holderIdentity: 'bench' } });
  const abort = new AbortController();
  const took: number[] = [];
  const run = async () => {
    while (!abort.signal.aborted) {
      const startedMs = performance.now();
      await getPutPost(kube, took.length);
      took.push(performance.now() - startedMs);
      await sleep(everyMs, undefined, { signal: abort.signal }).catch(() => undefined);
    }
  };
  const running = run();
  return {
    async stop() {
      abort.abort();
      await running;
      return took;
    },
  };
}

async function getPutPost(kube: Kube, nth: number) {
  const found = await kube.get(Lease, lease);
  if (!found) throw new Error('expected the Lease of the baseline, found none: somebody deleted it');
  const renewTime = new Date().toISOString().replace('Z', '000Z');
  await kube.replace(Lease, { ...found, spec: { ...found.spec, renewTime } });
  await kube.create(DataVolume, dataVolume(nth));
}

/** As large as one of ours, but without the label by which the source of CDI's kinds selects. */
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
