import { Workspace, type WorkspaceStatus, workspaceFinalizer } from '../../../shared/kinds/pelotech/workspace.ts';
import { at } from './images.ts';

export interface WorkspaceOptions {
  name?: string;
  uid?: string;
  generation?: number;
  finalizers?: string[];
  labels?: Record<string, string>;
  deleted?: boolean;
  spec?: Workspace['spec'];
  status?: WorkspaceStatus;
}

/** A workspace as the API server shows it once compose-workspace has begun with it; with nothing said it has nothing in it. */
export function aWorkspace(options: WorkspaceOptions = {}): Workspace {
  const { name = 'lab', uid = `uid-${name}` } = options;
  const images = options.spec?.vms?.map(({ backingVMDiskImage }) => [`image.pelotech.ot/${backingVMDiskImage}`, '']);
  return Workspace.parse({
    metadata: {
      name,
      uid,
      resourceVersion: '10',
      generation: options.generation ?? 1,
      creationTimestamp: at(0).replace('.000Z', 'Z'),
      finalizers: options.finalizers ?? [workspaceFinalizer],
      labels: options.labels ?? Object.fromEntries(images ?? []),
      ...(options.deleted ? { deletionTimestamp: at(0) } : {}),
    },
    spec: options.spec ?? {},
    ...(options.status ? { status: options.status } : {}),
  });
}

/** A machine of a workspace, on image vmdi-farm/ubuntu. */
export const aMachineOf = (more: Partial<NonNullable<Workspace['spec']['vms']>[number]> = {}) => ({
  name: 'vm',
  backingVMDiskImage: 'ubuntu',
  resources: { cpu: '2', memory: '2Gi' },
  ...more,
});

export const aClusterOf = (more: Partial<NonNullable<Workspace['spec']['containerClusters']>[number]> = {}) => ({
  name: 'app',
  containers: [{ name: 'app', image: 'example.org/app:1' }],
  ...more,
});
