import type { Site } from '../../../functions/compose-workspace/observed.ts';
import { hostKeysOf } from '../../../functions/compose-workspace/roles/host-keys.ts';
import { jobNamesOf, type Machine } from '../../../functions/compose-workspace/roles/job-name.ts';
import { rolesOf } from '../../../functions/compose-workspace/roles/roles.ts';
import type { Role } from '../../../functions/compose-workspace/roles/roles-of-machine.ts';
import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { Secret } from '../../../shared/kinds/core/secret.ts';
import type { Workspace, WorkspaceMachine } from '../../../shared/kinds/pelotech/workspace.ts';
import { parsePolicy } from '../../../shared/policy.ts';
import { aClusterOf, aMachineOf, aWorkspace as anyWorkspace } from './workspaces.ts';

export const aPolicy = (data: Record<string, string> = {}) =>
  parsePolicy(
    ConfigMap.parse({
      metadata: { name: 'p' },
      data: { ansibleRunnerImage: 'registry.example/ansible-runner:1.0', ...data },
    }),
  );

/** A machine on the control network, .161 by default; only what the test is about need be said. */
export const aVm = ({
  deploy,
  build,
  ...more
}: Partial<WorkspaceMachine> & { deploy?: Role[]; build?: Role[] } = {}): WorkspaceMachine => ({
  ...aMachineOf(),
  name: 'demo-vm',
  version: '2.1.0',
  interfaces: [{ network: 'control-net', ipAddress: '10.10.0.161/24' }],
  ansible: { roles: { build, deploy: deploy ?? [{ role: 'runtimeChecks' }] } },
  ...more,
});

/** Machines on a control network, with a container on it. */
export const aWorkspace = (vms: WorkspaceMachine[] = [aVm()], annotations?: Record<string, string>): Workspace => {
  const networks = [{ name: 'control-net', cidr: '10.10.0.0/24' }];
  const containerClusters = [aClusterOf({ interfaces: [{ network: 'control-net', ipAddress: '10.10.0.141/24' }] })];
  const workspace = anyWorkspace({
    name: 'demo-workspace-1',
    uid: 'uid-w',
    spec: { vms, networks, containerClusters },
  });
  return annotations ? { ...workspace, metadata: { ...workspace.metadata, annotations } } : workspace;
};

/** What the site has for deploy roles: a key of 32 of these letters. */
export const aSite = (letter = 'k', length = 32): Site => ({
  roles: {},
  key: Secret.parse({
    metadata: { name: 'workspace-key' },
    data: { key: Buffer.from(letter.repeat(length)).toString('base64') },
  }),
  credentials: undefined,
  hostKeys: undefined,
});

export const aMachine = (name = 'demo-vm'): Machine => ({ metadata: { name, uid: `uid-${name}` } });

/** The roles of a workspace whose machines are all there. */
export const allRoles = (workspace: Workspace, data: Record<string, string> = {}, roles: Record<string, string> = {}) =>
  rolesOf(
    workspace,
    aPolicy(data),
    jobNamesOf(workspace, workspace.spec.vms?.map(({ name }) => aMachine(name)) ?? []),
    hostKeysOf(workspace, aSite()),
    roles,
  );
