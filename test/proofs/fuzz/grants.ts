import { allowed, type Write } from './cluster.ts';

/** What the author of a run may call its own. */
export interface Own {
  /** Begins the names of its namespaces and of its Workspaces. */
  prefix: string;
}

/** A write outside the author's namespaces that the policy grants, or that is the operator's own business. */
interface Grant {
  by: readonly string[];
  because: string;
  allows(write: Write): boolean;
}

const farm = 'vmdi-farm';
const operator = 'sync-operator';
/** Made by an administrator: what functions write to them must not come from an author, but for the count of references. */
const admins = new Set(['golden', 'private']);

const textAt = (write: Write, field: string) => {
  const { spec } = (write.object ?? {}) as { spec?: Record<string, unknown> };
  return String(spec?.[field] ?? '');
};

/** Whether a line of the policy allows the download, read as a client reads a URL. */
function isAllowedSource(url: string, secret: string): boolean {
  const { origin, pathname } = URL.parse(url.replace(/^(docker|oci-archive):/, 'https:')) ?? {};
  const at = `${origin}${decoded(pathname ?? '')}`;
  return allowed.some((line) => at.startsWith(line.place) && (secret === '' || secret === line.secret));
}

const decoded = (path: string) => {
  try {
    return new URL(decodeURIComponent(path), 'https://x').pathname;
  } catch {
    return path;
  }
};

const ofAnImage = ['start-sync', 'follow-sync', 'prune'];
const isIn = (write: Write, namespace: string, ...resources: string[]) =>
  write.namespace === namespace && resources.includes(write.resource);
const imageOf = ({ name, object, oldObject }: Write) =>
  (object ?? oldObject)?.metadata.labels?.['pelotech.ot/disk-image'] ?? name;

const grants: readonly Grant[] = [
  {
    by: ['ensure-vmdi', 'compose-workspace', 'preload'],
    because: 'a line of allowedSources lets templates and publications make an image of that URL in an image namespace',
    allows: (write) =>
      isIn(write, farm, 'vmdiskimages.pelotech.ot') &&
      write.operation !== 'DELETE' &&
      !admins.has(write.name) &&
      isAllowedSource(textAt(write, 'url'), textAt(write, 'secretRef')),
  },
  {
    by: ofAnImage,
    because: 'an image that was made there so is queued, downloaded, cut and pruned',
    allows: (write) =>
      isIn(
        write,
        farm,
        'vmdiskimages.pelotech.ot',
        'datavolumes.cdi.kubevirt.io',
        'persistentvolumeclaims',
        'volumesnapshots.snapshot.storage.k8s.io',
      ) && !admins.has(imageOf(write)),
  },
  {
    by: ['inspect-source'],
    because: 'what the source of an image is, or that no one could look, is in the status of the image',
    allows: (write) =>
      isIn(write, farm, 'vmdiskimages.pelotech.ot') && write.subresource === 'status' && !admins.has(write.name),
  },
  {
    by: ['count-refs'],
    because: 'an image that others may clone counts who uses it',
    allows: (write) => isIn(write, farm, 'vmdiskimages.pelotech.ot') && write.subresource === 'status',
  },
  {
    by: ['start-sync'],
    because: 'the slots of all downloads are in one Lease of the operator',
    allows: (write) => isIn(write, operator, 'leases.coordination.k8s.io') && write.name === 'sync-slots',
  },
  {
    by: ['preload', 'start-sync', 'follow-sync', 'prune', 'dead-letters'],
    because: 'an Event says what became of an image or of a publication, where the image or the policy is',
    allows: (write) => isIn(write, farm, 'events') || isIn(write, operator, 'events'),
  },
];

/** The namespaces of the author's Workspaces, and what of no namespace is named after them. */
const isOwnLab = ({ prefix }: Own, name: string) => name === `ws-${prefix}` || name.startsWith(`ws-${prefix}-`);
const isOwn = ({ prefix }: Own, name: string) => name === prefix || name.startsWith(`${prefix}-`);

/** Of no namespace, and so found by name. */
function isOwnClusterObject(own: Own, { by, resource, subresource, name }: Write): boolean {
  if (resource === 'workspaces.pelotech.ot') return by === 'compose-workspace' && isOwn(own, name);
  if (resource === 'namespaces') return isOwnLab(own, name) && by === 'compose-workspace' && subresource === '';
  if (['vpcs.kubeovn.io', 'subnets.kubeovn.io'].includes(resource))
    return by === 'compose-workspace' && isOwnLab(own, name);
  return false;
}

/** An Event about an object of no namespace is kept in `default`. */
const isEventOfOwn = (own: Own, { resource, namespace, object }: Write) =>
  resource.startsWith('events') &&
  namespace === 'default' &&
  isOwn(own, (object as { involvedObject?: { name?: string } } | undefined)?.involvedObject?.name ?? '');

/** Why a write of a function is none of the author's doing, or nothing if it is granted. */
export function notGranted(own: Own, write: Write): string | undefined {
  if (isOwn(own, write.namespace) || isOwnLab(own, write.namespace)) return undefined;
  if (write.namespace === '' ? isOwnClusterObject(own, write) : isEventOfOwn(own, write)) return undefined;
  if (grants.some(({ by, allows }) => by.includes(write.by) && allows(write))) return undefined;
  const where = write.namespace === '' ? 'the cluster' : `namespace ${write.namespace}`;
  return `${write.by}: ${write.operation} ${write.resource}${write.subresource && `/${write.subresource}`} ${write.name} in ${where}`;
}
