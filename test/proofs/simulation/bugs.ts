import type { Action } from '../../../shared/actions.ts';
import { type FunctionDeclaration, subjectsOf } from '../../../shared/function.ts';
import { keepAnnotation } from '../../../shared/images/pruning.ts';
import { publishedAt } from '../../../shared/images/published-image.ts';
import { holdersOf, slotsAnnotation } from '../../../shared/images/slots.ts';
import { Deployment } from '../../../shared/kinds/apps/deployment.ts';
import { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { Lease } from '../../../shared/kinds/coordination/lease.ts';
import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { PersistentVolumeClaim } from '../../../shared/kinds/core/persistent-volume-claim.ts';
import { Pod } from '../../../shared/kinds/core/pod.ts';
import { Secret } from '../../../shared/kinds/core/secret.ts';
import { KubeVirtMachine } from '../../../shared/kinds/kubevirt/virtual-machine.ts';
import { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { imageUidLabel, publishedContent, VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../../shared/kinds/pelotech/workspace.ts';
import { type KubernetesObject, keyOf, type Resource } from '../../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import type { Besides } from './enumerate.ts';
import { crowd, journeys } from './journeys.ts';
import { type Plan, plainly, type Signer } from './plan.ts';
import type { Sabotage } from './simulate.ts';

/** A plausible mistake, and how it is injected from outside the functions. */
export interface Bug extends Mistake {
  name: string;
}

interface Mistake {
  /** One of these invariants must find it, whatever else it breaks. */
  breaks: readonly string[];
  sabotage: Sabotage;
  /** The journey in which it shows, if it shows only in a comparison of two runs. */
  beside?: Besides;
  /** A plan that shows it and that a random search takes long to find: tried first. */
  plan?: Plan;
}

type Name =
  | 'inspect-source'
  | 'start-sync'
  | 'follow-sync'
  | 'prune'
  | 'count-refs'
  | 'ensure-vmdi'
  | 'provision-vm'
  | 'preload'
  | 'compose-workspace';
type Anything = KubernetesObject & { status?: Record<string, unknown>; spec?: Record<string, unknown> };

const through = (names: Name | readonly Name[], changed: (kube: Kube) => Partial<Kube>): Sabotage => ({
  through: (kube, name) => ([names].flat().includes(name as Name) ? { ...kube, ...changed(kube) } : kube),
});

/** The functions read wrong objects of a kind. */
const misreads = (
  names: Name | readonly Name[],
  resource: Resource,
  changed: (object: Anything) => object | undefined,
): Sabotage =>
  through(names, (kube) => {
    const seen = <T>(of: Resource, object: T): T | undefined =>
      of.kind === resource.kind && of.apiVersion === resource.apiVersion ? (changed(object as Anything) as T) : object;
    const all = <T>(of: Resource, objects: readonly T[]) =>
      objects.map((object) => seen(of, object)).filter((object) => object !== undefined);
    return {
      get: async (of, ref) => {
        const found = await kube.get(of, ref);
        return found && seen(of, found);
      },
      list: async (of, options) => all(of, await kube.list(of, options)),
      async *pages(of, options) {
        for await (const page of kube.pages(of, options)) yield { ...page, items: all(of, page.items) };
      },
    };
  });

/** The function makes other decisions. */
const decides = (
  name: Name,
  changed: (actions: readonly Action[], observed: never) => readonly Action[],
): Sabotage => ({
  declarations: (declarations) =>
    declarations.map((declaration) =>
      declaration.name === name
        ? { ...declaration, decide: (observed) => changed(declaration.decide(observed), observed as never) }
        : declaration,
    ),
});

/** The function observes something else than it read. */
const observes = (name: Name, changed: (observed: Record<string, unknown>) => object): Sabotage => ({
  declarations: (declarations) =>
    declarations.map((declaration) =>
      declaration.name === name
        ? {
            ...declaration,
            observe: async (context, batch) =>
              (await declaration.observe(context, batch)).map((one) => changed(one as Record<string, unknown>)),
          }
        : declaration,
    ),
});

const status = (action: Action) => (action.do === 'patchStatus' ? action.status : undefined);
const withStatus = (action: Action, fields: object): Action =>
  action.do === 'patchStatus' ? { ...action, status: { ...action.status, ...fields } } : action;

type PolicyData = Readonly<Record<string, string>>;

/** The functions read a policy with other values. */
const misreadsPolicy = (names: Name | readonly Name[], changed: PolicyData | ((data: PolicyData) => PolicyData)) =>
  misreads(names, ConfigMap, (map) => {
    const { data = {} } = map as { data?: PolicyData };
    return { ...map, data: { ...data, ...(typeof changed === 'function' ? changed(data) : changed) } };
  });

const notWokenBy =
  (...timers: readonly string[]) =>
  (declaration: FunctionDeclaration): FunctionDeclaration => ({
    ...declaration,
    on: declaration.on.filter((subscription) => !timers.includes(subscription.on)),
  });

interface Counted {
  image: VMDiskImage | undefined;
  machines: readonly VirtualMachine[];
  named: ReadonlySet<string>;
}

/** count-refs trusts the events: one more for a created machine, one less for a deleted one. */
function countingByEvents(declaration: FunctionDeclaration): FunctionDeclaration {
  if (declaration.name !== 'count-refs') return declaration;
  const news = ({ image, named }: Counted, after: readonly string[]) => {
    const { count = 0, by = [] } = image?.status?.references ?? {};
    const came = after.filter((key) => named.has(key) && !by.includes(key)).length;
    const went = by.filter((key) => named.has(key) && !after.includes(key)).length;
    return { count: count + came - went, by: after };
  };
  return {
    ...declaration,
    observe: async (context, batch) => {
      const named = new Set(subjectsOf(batch, VirtualMachine).map(keyOf));
      return (await declaration.observe(context, batch)).map((one) => ({ ...(one as object), named }));
    },
    decide: (observed) =>
      declaration.decide(observed).map((action) => {
        const counted = status(action)?.references as { by: string[] } | undefined;
        return counted ? withStatus(action, { references: news(observed as Counted, counted.by) }) : action;
      }),
  };
}

type Named = Pick<KubernetesObject['metadata'], 'name' | 'annotations'>;
const withMetadata = (object: unknown, changed: (metadata: Named) => object) => {
  const made = object as { metadata: Named };
  return { ...made, metadata: { ...made.metadata, ...changed(made.metadata) } };
};

const anySource = 'https://s3.eu-west-1.amazonaws.com/images/** s3-reader';

/** ensure-vmdi takes a template's source for allowed, where the policy allows another. */
const madeFromAnyTemplate = (allowedSources: string): Mistake => ({
  breaks: ['S19'],
  plan: plainly([
    { seconds: 0, do: 'policy', key: 'allowedSources', value: allowedSources },
    { seconds: 5, do: 'createMachine', machine: 'm', image: 'a', hasTemplate: true },
  ]),
  sabotage: misreadsPolicy('ensure-vmdi', { allowedSources: anySource }),
});

/** compose-workspace makes an object of a kind otherwise than the Workspace asks. */
const composes = (resource: Resource, changed: (object: Anything) => object): Mistake => ({
  breaks: ['S19'],
  plan: plainly([
    { seconds: 0, do: 'createImage', image: 'a' },
    { seconds: 130, do: 'createWorkspace', workspace: 'w', image: 'a', runs: true },
  ]),
  sabotage: through('compose-workspace', (kube) => ({
    create: (of, object, fieldManager) =>
      kube.create(of, of.kind === resource.kind ? changed(object as Anything) : object, fieldManager),
  })),
});

/** The object of a Pod template with other fields in the template's metadata or spec. */
const withTemplate = (object: Anything, changed: { metadata?: object; spec?: object }) => {
  const { template } = object.spec as { template: { metadata: object; spec: object } };
  const metadata = { ...template.metadata, ...changed.metadata };
  return { ...object, spec: { ...object.spec, template: { metadata, spec: { ...template.spec, ...changed.spec } } } };
};

/** A function reads a Secret beside what it reads of a kind. */
const alsoReads = (name: Name, resource: Resource, ref: { namespace: string; name: string }): Sabotage =>
  through(name, (kube) => ({
    get: async (of, wanted) => {
      if (of.kind === resource.kind) await kube.get(Secret, ref);
      return kube.get(of, wanted);
    },
  }));

/** A publication where the policy takes signed ones only. */
const published = (signedBy?: Signer): Plan =>
  plainly([
    { seconds: 0, do: 'policy', key: 'unsignedPublications', value: 'Refuse' },
    { seconds: 5, do: 'publish', image: 'a', digest: 'sha256:1', ...(signedBy ? { signedBy } : {}) },
  ]);

/** Four images for a budget that three of them spend. */
const beyondBudget = plainly([
  { seconds: 0, do: 'policy', key: 'egressBudget', value: '130Mi/1d' },
  ...(['a', 'b', 'c', 'd'] as const).map((image) => ({ seconds: 0, do: 'createImage', image }) as const),
]);

const mistakes: Readonly<Record<string, Mistake>> = {
  'the Lease is written without compare-and-swap': {
    breaks: ['S1', 'S2', 'L4'],
    sabotage: through('start-sync', (kube) => ({
      replace: async (resource, object, fieldManager) => {
        const newest = await kube.get(resource, object.metadata);
        const { resourceVersion = '' } = newest?.metadata ?? {};
        return kube.replace(resource, { ...object, metadata: { ...object.metadata, resourceVersion } }, fieldManager);
      },
    })),
  },
  'a slot is freed before the DataVolume of its failed attempt is deleted': {
    breaks: ['S2', 'S5'],
    sabotage: observes('start-sync', (observed) => {
      const { images, dataVolumes } = observed as { images: VMDiskImage[]; dataVolumes: DataVolume[] };
      const syncing = new Set(
        images.filter((image) => image.status?.phase === 'Syncing').map(({ metadata }) => metadata.uid),
      );
      const kept = dataVolumes.filter(({ metadata }) => syncing.has(metadata.labels?.[imageUidLabel] ?? ''));
      return { ...observed, dataVolumes: kept, pods: [] };
    }),
  },
  'an empty list of DataVolumes is trusted when the Lease is rebuilt': {
    breaks: ['S2', 'L4'],
    sabotage: through('start-sync', (kube) => {
      let isLost = false;
      return {
        get: async (resource, ref) => {
          const found = await kube.get(resource, ref);
          if (resource.kind === Lease.kind) isLost = holdersOf(found as Lease | undefined) === undefined;
          return found;
        },
        list: async (resource, options) =>
          isLost && (resource.kind === DataVolume.kind || resource.kind === Pod.kind)
            ? []
            : kube.list(resource, options),
      };
    }),
  },
  'references are counted up and down by one, event by event': {
    breaks: ['S13'],
    sabotage: { declarations: (declarations) => declarations.map(countingByEvents) },
  },
  'slots are held by name': {
    breaks: ['S3'],
    sabotage: through('start-sync', (kube) => {
      const byName = <T>(object: T): T => {
        const lease = object as unknown as Lease;
        const holders = holdersOf(lease)?.map((holder) => ({ ...holder, uid: holder.image }));
        const annotations = { ...lease.metadata.annotations, [slotsAnnotation]: JSON.stringify(holders) };
        return { ...lease, metadata: { ...lease.metadata, annotations } } as T;
      };
      const byUid = async <T>(object: T): Promise<T> => {
        const lease = object as unknown as Lease;
        const uids = new Map((await kube.list(VMDiskImage)).map(({ metadata }) => [keyOf(metadata), metadata.uid]));
        const holders = holdersOf(lease)?.map((holder) => ({ ...holder, uid: uids.get(holder.image) ?? holder.uid }));
        const annotations = { ...lease.metadata.annotations, [slotsAnnotation]: JSON.stringify(holders) };
        return holders ? ({ ...lease, metadata: { ...lease.metadata, annotations } } as T) : object;
      };
      return {
        get: async (resource, ref) => {
          const found = await kube.get(resource, ref);
          return found && resource.kind === Lease.kind ? byUid(found) : found;
        },
        replace: (resource, object, fieldManager) => kube.replace(resource, byName(object), fieldManager),
      };
    }),
  },
  'an image is Succeeded before its snapshot is readyToUse': {
    breaks: ['S8'],
    sabotage: misreads('follow-sync', VolumeSnapshot, (snapshot) => ({
      ...snapshot,
      status: { ...snapshot.status, readyToUse: true },
    })),
  },
  'a failed DataVolume is deleted before the cause is written': {
    breaks: ['S8'],
    sabotage: decides('follow-sync', (actions) => {
      const deletions = actions.filter((action) => action.do === 'delete' && action.resource.kind === DataVolume.kind);
      return [...deletions, ...actions.filter((action) => !deletions.includes(action))];
    }),
  },
  'restartCount is ignored': {
    breaks: ['S6'],
    // Of the kinds of failure only this one shows in nothing else.
    plan: plainly(
      [{ seconds: 0, do: 'createImage', image: 'a' }],
      [{ kind: 'download', at: 0, count: 6, how: 'restartOnly' }],
    ),
    sabotage: {
      through: (kube, name) => {
        if (name !== 'follow-sync') return kube;
        const withoutRestarts = misreads('follow-sync', Pod, (pod) => ({
          ...pod,
          status: { ...pod.status, containerStatuses: [] },
        })).through?.(kube, name);
        return (
          misreads('follow-sync', DataVolume, (dataVolume) => ({
            ...dataVolume,
            status: { ...dataVolume.status, restartCount: 0 },
          })).through?.(withoutRestarts ?? kube, name) ?? kube
        );
      },
    },
  },
  'one slot more is assigned than the policy allows': {
    breaks: ['S1'],
    sabotage: misreadsPolicy('start-sync', ({ concurrency = '4' }) => ({
      concurrency: String(Number(concurrency) + 1),
    })),
  },
  'a namespace holds more slots than slotsPerNamespace': {
    breaks: ['S1'],
    plan: plainly([
      { seconds: 0, do: 'policy', key: 'slotsPerNamespace', value: '1' },
      { seconds: 0, do: 'createImage', image: 'a' },
      { seconds: 0, do: 'createImage', image: 'b' },
    ]),
    sabotage: misreadsPolicy('start-sync', { slotsPerNamespace: '2' }),
  },
  'the newest image gets the first slot': {
    breaks: ['S4'],
    sabotage: misreads('start-sync', VMDiskImage, (image) => {
      const at = Date.parse(String(image.status?.queuedAt ?? ''));
      return Number.isNaN(at)
        ? image
        : { ...image, status: { ...image.status, queuedAt: new Date(3.6e12 - at).toISOString() } };
    }),
  },
  'an attempt has no back-off': {
    breaks: ['S7'],
    sabotage: decides('follow-sync', (actions, observed) =>
      actions.map((action) =>
        status(action)?.nextAttemptAt
          ? withStatus(action, { nextAttemptAt: new Date((observed as { nowMs: number }).nowMs).toISOString() })
          : action,
      ),
    ),
  },
  'one attempt more is made than retryLimit allows': {
    breaks: ['S6'],
    sabotage: misreadsPolicy(['start-sync', 'follow-sync'], ({ retryLimit = '2' }) => ({
      retryLimit: String(Number(retryLimit) + 1),
    })),
  },
  'attempts are forgotten': {
    breaks: ['S6'],
    sabotage: decides('start-sync', (actions) =>
      actions.map((action) => (status(action)?.phase === 'Syncing' ? withStatus(action, { attempts: 1 }) : action)),
    ),
  },
  'the finalizer is removed before the objects of the image': {
    breaks: ['S10'],
    sabotage: observes('prune', (observed) => ({
      ...observed,
      ...(observed.left ? { left: { dataVolumes: [], claims: [], snapshots: [], holdsSlot: false } } : {}),
    })),
  },
  'an image is deleted although machines use it': {
    breaks: ['S10'],
    sabotage: observes('prune', (observed) => ({ ...observed, machines: [] })),
  },
  'an unused image is deleted without preconditions': {
    breaks: ['S12'],
    sabotage: through('prune', (kube) => ({ delete: (resource, ref) => kube.delete(resource, ref) })),
  },
  'the finalizer of a machine is never removed': {
    breaks: ['L1'],
    sabotage: decides('count-refs', (actions) => actions.filter((action) => action.do !== 'patchMetadata')),
  },
  'a status is written although nothing changed': {
    breaks: ['L1'],
    sabotage: decides('follow-sync', (actions, observed) => {
      const { image, nowMs } = observed as { image: VMDiskImage; nowMs: number };
      const message = `Looked at ${new Date(nowMs).toISOString()}.`;
      return actions.length > 0 || image.status?.phase !== 'Succeeded'
        ? actions
        : [{ do: 'patchStatus', resource: VMDiskImage, of: image, status: { message } }];
    }),
  },
  'a DataVolume has another name at each attempt': {
    breaks: ['S5'],
    sabotage: decides('start-sync', (actions, observed) =>
      actions.map((action) => {
        if (action.do !== 'create' || action.resource.kind !== DataVolume.kind) return action;
        const { metadata } = action.object;
        const name = `${metadata.name}-${(observed as { nowMs: number }).nowMs}`;
        return { ...action, object: { ...(action.object as object), metadata: { ...metadata, name } } } as Action;
      }),
    ),
  },
  'a failed attempt goes straight back to the queue': {
    breaks: ['S9'],
    sabotage: decides('follow-sync', (actions) =>
      actions.map((action) =>
        status(action)?.phase === 'Retrying' ? withStatus(action, { phase: 'Queued' }) : action,
      ),
    ),
  },
  "a user's annotation is removed": {
    breaks: ['S14'],
    sabotage: decides('start-sync', (actions, observed) => {
      const kept = (observed as { images: VMDiskImage[] }).images.filter(
        ({ metadata }) => metadata.annotations?.[keepAnnotation] !== undefined && !metadata.deletionTimestamp,
      );
      const metadata = { annotations: { [keepAnnotation]: null } };
      const writes = kept.map(
        (of) => ({ do: 'patchMetadata', resource: VMDiskImage, of, metadata }) as unknown as Action,
      );
      return [...writes, ...actions];
    }),
  },
  'a slot is never released': {
    breaks: ['S15'],
    sabotage: through('start-sync', (kube) => ({
      replace: async (resource, object, fieldManager) => {
        const before = holdersOf((await kube.get(resource, object.metadata)) as Lease | undefined) ?? [];
        const after = holdersOf(object as unknown as Lease) ?? [];
        const lost = before.filter(({ uid }) => !after.some((holder) => holder.uid === uid));
        const annotations = { ...object.metadata.annotations, [slotsAnnotation]: JSON.stringify([...after, ...lost]) };
        return kube.replace(resource, { ...object, metadata: { ...object.metadata, annotations } }, fieldManager);
      },
    })),
  },
  'an importer that is still ending keeps no slot': {
    breaks: ['S2'],
    sabotage: misreads('start-sync', Pod, () => undefined),
  },
  'only one slot is assigned at a time': {
    breaks: ['L2'],
    sabotage: misreadsPolicy('start-sync', { concurrency: '1' }),
    // It shows only while one download lasts longer than a sweep.
    plan: plainly(
      ['a', 'b', 'c'].map((image) => ({ seconds: 0, do: 'createImage', image })),
      [{ kind: 'download', at: 0, count: 6, how: 'stalls' }],
    ),
  },
  'an attempt has no time limit': {
    breaks: ['L3'],
    sabotage: misreadsPolicy('follow-sync', { startTimeout: '100h', syncTimeout: '100h', snapshotTimeout: '100h' }),
  },
  'the back-off of a failed attempt takes hours': {
    breaks: ['L3'],
    sabotage: misreadsPolicy('follow-sync', { retryBackoffDuration: '10h', maxRetryBackoffDuration: '10h' }),
  },
  'lost events are not made up for': {
    breaks: ['L1'],
    sabotage: { declarations: (declarations) => declarations.map(notWokenBy('sweep', 'audit')) },
  },
  'an unreadable Lease is treated as empty': {
    breaks: ['S2', 'L4'],
    sabotage: misreads('start-sync', Lease, (lease) =>
      holdersOf(lease as unknown as Lease)
        ? lease
        : { ...lease, metadata: { ...lease.metadata, annotations: { [slotsAnnotation]: '[]' } } },
    ),
  },
  'a snapshot has no owner, and prune overlooks it': {
    breaks: ['S11'],
    sabotage: {
      through: (kube, name) =>
        name === 'follow-sync'
          ? {
              ...kube,
              create: (resource, object, fieldManager) =>
                kube.create(
                  resource,
                  resource.kind === VolumeSnapshot.kind
                    ? withMetadata(object, () => ({ ownerReferences: [] }))
                    : object,
                  fieldManager,
                ),
            }
          : (misreads('prune', VolumeSnapshot, () => undefined).through?.(kube, name) ?? kube),
    },
  },
  'a changed url is not downloaded': {
    breaks: ['S17'],
    sabotage: {
      through: (kube, name) => {
        const urls = new Map<string, unknown>();
        const first = ({ metadata: { uid }, spec }: Anything) => {
          if (!urls.has(uid)) urls.set(uid, spec?.url);
          return urls.get(uid);
        };
        const stale = (image: Anything) => ({ ...image, spec: { ...image.spec, url: first(image) } });
        const isOf = name === 'start-sync' || name === 'follow-sync';
        return (isOf && misreads(name, VMDiskImage, stale).through?.(kube, name)) || kube;
      },
    },
  },
  'the source volume is deleted before its snapshot is ready': {
    breaks: ['S18'],
    sabotage: decides('follow-sync', (actions, observed) => {
      const { image, dataVolumes } = observed as { image: VMDiskImage; dataVolumes: readonly DataVolume[] };
      const done = dataVolumes.filter(
        ({ metadata, status: said }) => said?.phase === 'Succeeded' && !metadata.deletionTimestamp,
      );
      const isWaiting = image.status?.phase === 'Snapshotting' && actions.length === 0;
      return isWaiting ? done.map((of): Action => ({ do: 'delete', resource: DataVolume, of })) : actions;
    }),
  },
  'an image is made from any template (allowedSources)': madeFromAnyTemplate('https://other.example.com/**'),
  'a template names a Secret that its line does not have (allowedSources)': madeFromAnyTemplate(
    'https://s3.eu-west-1.amazonaws.com/images/**',
  ),
  'a disk is cloned from any namespace (imageNamespaces)': {
    breaks: ['S19'],
    plan: plainly([
      { seconds: 0, do: 'createImage', image: 'a' },
      { seconds: 130, do: 'policy', key: 'imageNamespaces', value: 'elsewhere' },
      { seconds: 5, do: 'createMachine', machine: 'm', image: 'a', hasTemplate: false },
    ]),
    sabotage: misreadsPolicy(['ensure-vmdi', 'provision-vm'], { imageNamespaces: 'vmdi-farm' }),
  },
  'a Secret is looked for in the namespace of the operator': {
    breaks: ['S19'],
    sabotage: through('start-sync', (kube) => ({
      get: async (resource, ref) => {
        if (resource.kind === 'Secret') await kube.get(resource, { ...ref, namespace: 'sync-operator' });
        return kube.get(resource, ref);
      },
    })),
  },
  'a function for pruning reads a Secret': {
    breaks: ['S19'],
    sabotage: alsoReads('prune', VMDiskImage, { namespace: 'vmdi-farm', name: 's3-reader' }),
  },
  'a Secret of another namespace is read for a Workspace': {
    breaks: ['S19'],
    sabotage: alsoReads('compose-workspace', Workspace, { namespace: 'vmdi-farm', name: 's3-reader' }),
  },
  'an unsigned publication makes an image (unsignedPublications)': {
    breaks: ['S19'],
    plan: published(),
    sabotage: misreadsPolicy('preload', { unsignedPublications: 'Accept' }),
  },
  'a publication counts with any signature': {
    breaks: ['S19'],
    plan: published('stranger'),
    sabotage: observes('preload', (observed) => ({ ...observed, stranger: undefined })),
  },
  'a publication is of any source (allowedSources)': {
    breaks: ['S19'],
    plan: plainly([
      { seconds: 0, do: 'policy', key: 'allowedSources', value: 'https://other.example.com/**' },
      { seconds: 5, do: 'publish', image: 'a', digest: 'sha256:1' },
    ]),
    sabotage: misreadsPolicy('preload', { allowedSources: anySource }),
  },
  'a machine joins any network (machineNetworks)': {
    breaks: ['S19'],
    plan: plainly([
      { seconds: 0, do: 'createImage', image: 'a' },
      { seconds: 130, do: 'createMachine', machine: 'm', image: 'a', hasTemplate: false, joins: 'default' },
    ]),
    sabotage: misreadsPolicy('provision-vm', { machineNetworks: 'default' }),
  },
  'a container of a Workspace mounts a Secret': composes(Deployment, (object) =>
    withTemplate(object, { spec: { volumes: [{ name: 'data', secret: { secretName: 'login' } }] } }),
  ),
  'a container of a Workspace mounts the claim of another': composes(Deployment, (object) =>
    withTemplate(object, { spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'other' } }] } }),
  ),
  'a container of a Workspace joins the network of another': composes(Deployment, (object) =>
    withTemplate(object, {
      metadata: { annotations: { 'k8s.v1.cni.cncf.io/networks': '[{"name":"net","namespace":"ws-other"}]' } },
    }),
  ),
  'a volume of a Workspace is the copy of another': composes(PersistentVolumeClaim, (object) => ({
    ...object,
    spec: { ...object.spec, dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'data', namespace: 'ws-other' } },
  })),
  'a machine is never created in KubeVirt': {
    breaks: ['L6'],
    plan: plainly([
      { seconds: 0, do: 'createImage', image: 'a' },
      { seconds: 0, do: 'createMachine', machine: 'm', image: 'a', hasTemplate: true },
    ]),
    sabotage: decides('provision-vm', (actions) =>
      actions.filter((action) => action.do !== 'create' || action.resource.apiVersion !== KubeVirtMachine.apiVersion),
    ),
  },
  'no machine retains a deleted image (isHeldBy)': {
    breaks: ['S10'],
    sabotage: observes('prune', (observed) => ({
      ...observed,
      machines: ((observed.machines ?? []) as VirtualMachine[]).map((machine) => ({
        ...machine,
        metadata: { ...machine.metadata, creationTimestamp: '2100-01-01T00:00:00Z' },
        status: { ...machine.status, rootDisk: undefined },
      })),
    })),
  },
  'the next attempt starts without a back-off (backoffMs)': {
    breaks: ['S7'],
    sabotage: misreadsPolicy(['start-sync', 'follow-sync'], {
      retryBackoffDuration: '0s',
      maxRetryBackoffDuration: '0s',
    }),
  },
  'what is spent of the budget is not counted': {
    breaks: ['B2'],
    plan: beyondBudget,
    sabotage: through('start-sync', (kube) => ({
      replace: async (resource, object, fieldManager) => {
        const { annotations, ...metadata } = object.metadata;
        const { 'pelotech.ot/egress': _, ...others } = annotations ?? {};
        return kube.replace(resource, { ...object, metadata: { ...metadata, annotations: others } }, fieldManager);
      },
    })),
  },
  'the budget is exceeded by more than one image': {
    breaks: ['B2'],
    plan: beyondBudget,
    sabotage: misreadsPolicy('start-sync', ({ egressBudget }) => (egressBudget ? { egressBudget: '300Mi/1d' } : {})),
  },
  'an unused image is pruned at once (pruneAfter)': {
    breaks: ['S12'],
    sabotage: misreadsPolicy('prune', { pruneAfter: '0s' }),
  },
  'an image of workspaces goes with its last reference, whatever workspaceImagesKeptFor says': {
    breaks: ['S12'],
    plan: plainly([
      { seconds: 0, do: 'policy', key: 'workspaceImagesKeptFor', value: '30m' },
      { seconds: 0, do: 'createWorkspace', workspace: 'w', image: 'a', hasTemplate: true },
      { seconds: 130, do: 'deleteWorkspace', workspace: 'w' },
    ]),
    sabotage: misreadsPolicy('prune', { workspaceImagesKeptFor: '0s' }),
  },
  'a finalizer that a user removed is not added again': {
    breaks: ['S10'],
    sabotage: decides('start-sync', (actions, observed) => {
      const { images } = observed as { images?: readonly VMDiskImage[] };
      const seen = new Set((images ?? []).filter((image) => image.status?.phase).map(({ metadata }) => metadata.uid));
      return actions.filter((action) => action.do !== 'patchMetadata' || !seen.has(action.of.metadata.uid));
    }),
  },
  'a snapshot has its image as owner, so that a foreground deletion deletes it': {
    breaks: ['S10'],
    plan: plainly([
      { seconds: 0, do: 'createImage', image: 'a' },
      { seconds: 0, do: 'createMachine', machine: 'm', image: 'a', hasTemplate: false },
      { seconds: 60, do: 'deleteForeground', image: 'a' },
    ]),
    sabotage: through('follow-sync', (kube) => ({
      create: async (resource, object, fieldManager) => {
        if (resource.kind !== VolumeSnapshot.kind) return kube.create(resource, object, fieldManager);
        const { namespace, labels } = (object as KubernetesObject).metadata;
        const images = await kube.list(VMDiskImage, namespace ? { namespace } : {});
        const owner = images.find(({ metadata }) => metadata.uid === labels?.[imageUidLabel]);
        const { apiVersion, kind } = VMDiskImage;
        const ownerReferences = owner ? [{ apiVersion, kind, name: owner.metadata.name, uid: owner.metadata.uid }] : [];
        return kube.create(
          resource,
          withMetadata(object, () => ({ ownerReferences })),
          fieldManager,
        );
      },
      patch: (resource, ref, body, options) =>
        resource.kind === VolumeSnapshot.kind
          ? (kube.get(resource, ref) as ReturnType<typeof kube.patch<never>>)
          : kube.patch(resource, ref, body, options),
    })),
  },
  'volumes and snapshots that belong to no image are not deleted': {
    breaks: ['S11', 'S15'],
    sabotage: decides('prune', (actions, observed) => ('stray' in (observed as object) ? [] : actions)),
  },
  'a publication that is delivered again is treated as a new one': {
    breaks: ['S16'],
    sabotage: through('preload', (kube) => ({
      get: async (resource, ref) => {
        const found = await kube.get(resource, ref);
        const unpublished = ({ annotations }: Named) => ({ annotations: { ...annotations, [publishedAt]: '' } });
        return found && (withMetadata(found, unpublished) as typeof found);
      },
      apply: async (resource, object, ...more) => {
        const there = await kube.get(resource, (object as KubernetesObject).metadata);
        const annotations = { [publishedContent]: there?.metadata.resourceVersion ?? 'none' };
        return kube.apply(
          resource,
          withMetadata(object, (metadata) => ({ annotations: { ...metadata.annotations, ...annotations } })),
          ...more,
        );
      },
    })),
    beside: { plan: journeys['an image that a pipeline publishes'], by: 'replay' },
  },
  'an object whose creation was not answered is created again under another name': {
    breaks: ['L5'],
    sabotage: through('start-sync', (kube) => ({
      create: async (resource, object, fieldManager) => {
        try {
          return await kube.create(resource, object, fieldManager);
        } catch {
          const again = withMetadata(object, ({ name }) => ({ name: `${name}x` }));
          return kube.create(resource, again, fieldManager);
        }
      },
    })),
    beside: { plan: journeys['an image is created and deleted'], by: 'writeFaults' },
  },
  'the verdict of an inspection is overlooked': {
    breaks: ['S20'],
    plan: plainly([{ seconds: 0, do: 'createImage', image: 'a' }], [], { sources: ['missing'] }),
    sabotage: misreads('start-sync', VMDiskImage, (image) => {
      const conditions = (image.status?.conditions ?? []) as { type: string; reason: string }[];
      const overlooked = conditions.map((one) =>
        one.type === 'SourceInspected' ? { ...one, reason: 'Inspected' } : one,
      );
      return image.status ? { ...image, status: { ...image.status, conditions: overlooked } } : image;
    }),
  },
  'an image that waits for its inspection for too long syncs whatever is found later': {
    breaks: ['S20'],
    plan: plainly(
      [
        { seconds: 0, do: 'policy', key: 'concurrency', value: '0' },
        { seconds: 1, do: 'createImage', image: 'a' },
        { seconds: 60, do: 'policy', key: 'concurrency', value: '1' },
      ],
      [],
      { sources: ['unreachable', 'page'] },
    ),
    sabotage: misreads('start-sync', VMDiskImage, ({ status, ...image }) => {
      const { source, ...others } = status ?? {};
      return status ? { ...image, status: others } : image;
    }),
  },
  'a replaced object is not heard of': {
    breaks: ['S21'],
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 130, do: 'replaceSource', image: 'a' },
      ],
      [],
      { sources: [], refreshes: true },
    ),
    sabotage: misreads('start-sync', VMDiskImage, ({ status, ...image }) => {
      const { changed, ...source } = (status?.source ?? {}) as Record<string, unknown>;
      return status?.source ? { ...image, status: { ...status, source } } : { ...image, status };
    }),
  },
  'one look at another object is enough for a new revision': {
    breaks: ['S21'],
    plan: plainly([{ seconds: 0, do: 'createImage', image: 'a' }], [], {
      sources: ['image', 'golden'],
      troubleSeconds: 130,
      refreshes: true,
    }),
    sabotage: observes('inspect-source', ({ again, ...observed }) => observed),
  },
  'the content of a source does not include its ETag': {
    breaks: ['S17'],
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 40, do: 'createImage', image: 'b' },
      ],
      [],
      { sources: ['golden', 'silver'] },
    ),
    sabotage: decides('inspect-source', (actions) =>
      actions.map((action) => {
        const source = status(action)?.source as { content?: string | null } | undefined;
        return source?.content ? withStatus(action, { source: { ...source, content: 'of-this-size' } }) : action;
      }),
    ),
  },
  'an image is cloned from whatever revision another uses': {
    breaks: ['S17'],
    plan: plainly(
      [
        { seconds: 0, do: 'createImage', image: 'a' },
        { seconds: 40, do: 'changeUrl', image: 'a' },
        { seconds: 40, do: 'useRevision', image: 'a', revision: 1 },
        { seconds: 40, do: 'createImage', image: 'b' },
        // With the last operation sources begin to answer as usual.
        { seconds: 40, do: 'deleteImage', image: 'b' },
      ],
      [],
      { sources: ['golden', 'silver', 'silver', 'silver'] },
    ),
    sabotage: misreads('start-sync', VMDiskImage, ({ status, ...image }) => {
      const snapshot = status?.snapshot as object | undefined;
      return snapshot
        ? { ...image, status: { ...status, snapshot: { ...snapshot, revision: status?.revision } } }
        : { ...image, status };
    }),
  },
  'requests are sent without a limit': {
    breaks: ['B1'],
    plan: crowd,
    sabotage: { mostInFlight: Number.POSITIVE_INFINITY },
  },
  'every event about an image reads all images, one by one': {
    breaks: ['B1'],
    plan: crowd,
    sabotage: through('prune', (kube) => ({
      get: async (resource, ref) => {
        if (resource.kind !== VMDiskImage.kind) return kube.get(resource, ref);
        const all = await kube.list(VMDiskImage);
        for (const { metadata } of all) if (metadata.name !== ref.name) await kube.get(VMDiskImage, metadata);
        return kube.get(resource, ref);
      },
    })),
  },
  'leftovers of deleted images are listed for each of them': {
    breaks: ['B1'],
    plan: crowd,
    sabotage: through('prune', (kube) => ({
      list: async (resource, options) => {
        const { label, uids } = /^(?<label>\S+) in \((?<uids>.+)\)$/.exec(options?.labelSelector ?? '')?.groups ?? {};
        if (!uids) return kube.list(resource, options);
        const lists = uids.split(',').map((uid) => kube.list(resource, { labelSelector: `${label}=${uid}` }));
        return (await Promise.all(lists)).flat();
      },
    })),
  },
  'a status is written twice': {
    breaks: ['B1'],
    sabotage: decides('follow-sync', (actions) =>
      actions.flatMap((action): Action[] => (action.do === 'patchStatus' ? [action, action] : [action])),
    ),
  },
};

export const bugs: readonly Bug[] = Object.entries(mistakes).map(([name, mistake]) => ({ name, ...mistake }));
