import { Job } from '../../../shared/kinds/batch/job.ts';
import type { Workspace, WorkspaceMachine } from '../../../shared/kinds/pelotech/workspace.ts';
import type { Policy } from '../../../shared/policy.ts';
import { attachment } from './attachment.ts';
import { inventoryName, projectPaths } from './config-maps.ts';
import { credentialsFolder, credentialsName } from './credentials.ts';
import { machineLabel, metadataOf } from './metadata.ts';

/** An uid that is no root; with group 0, by which images of ansible-runner let any uid have a home and a name. */
const unprivileged = { runAsNonRoot: true, runAsUser: 1000, runAsGroup: 0, fsGroup: 1000 };

interface JobParts {
  workspace: Workspace;
  policy: Policy;
  vm: WorkspaceMachine;
  /** Of the Job, and of its ConfigMap. */
  name: string;
  /** On the control network. */
  address: string | undefined;
  siteRoles: Readonly<Record<string, string>>;
}

/** The Job that runs the roles of one machine: ansible-runner on /runner, as its documentation lays that folder out. */
export function jobFor(parts: JobParts) {
  const { workspace, policy, vm, name, address } = parts;
  const metadata = metadataOf(workspace, name, { [machineLabel]: vm.name });
  const mounts = mountsFor(parts);
  return {
    apiVersion: Job.apiVersion,
    kind: Job.kind,
    metadata,
    spec: {
      backoffLimit: 2,
      activeDeadlineSeconds: Math.max(1, Math.ceil(policy.values.ansibleTimeout / 1000)),
      // Two Pods at a time would have one address.
      podReplacementPolicy: 'Failed',
      template: {
        metadata: { labels: metadata.labels, annotations: attachment(workspace, policy, address) },
        spec: {
          restartPolicy: 'Never',
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          securityContext: { ...unprivileged, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [runnerOf(policy, mounts)],
          volumes: mounts.map(({ mountPath: _, ...volume }) => volume),
        },
      },
    },
  };
}

/** The volumes of the Pod, each with the folder that it is mounted on. */
const mountsFor = ({ workspace, policy, vm, name, siteRoles }: JobParts) => [
  { name: 'runner', emptyDir: {}, mountPath: '/runner' },
  {
    name: 'inventory',
    // The key of a machine that is removed before the Pod starts is missing.
    configMap: { name: inventoryName, items: inventoryItems(workspace, policy), optional: true },
    mountPath: '/runner/inventory',
  },
  { name: 'env', configMap: { name, items: [{ key: 'extravars', path: 'extravars' }] }, mountPath: '/runner/env' },
  { name: 'project', configMap: { name, items: projectPaths(vm, siteRoles) }, mountPath: '/runner/project' },
  // Missing it has the Pod wait for it; owned by root and readable by a group it is a key that ssh takes.
  ...(policy.values.ansibleCredentials
    ? [
        {
          name: 'credentials',
          secret: { secretName: credentialsName, defaultMode: 0o440 },
          mountPath: credentialsFolder,
        },
      ]
    : []),
];

/** The container that runs the playbook; it writes to nothing but its own folder. */
const runnerOf = ({ values }: Policy, mounts: ReturnType<typeof mountsFor>) => ({
  name: 'ansible',
  image: values.ansibleRunnerImage,
  args: ['ansible-runner', 'run', '/runner', '--playbook', 'site.yml', '--inventory', inventoryFile],
  env: [
    // A folder that can be written to in any image.
    { name: 'HOME', value: '/runner' },
    // Where we know no host keys a recreated machine has new ones.
    { name: 'ANSIBLE_HOST_KEY_CHECKING', value: values.ansibleCredentials ? 'True' : 'False' },
  ],
  securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  terminationMessagePolicy: 'FallbackToLogsOnError',
  resources: { requests: { cpu: '100m', memory: '256Mi' } },
  volumeMounts: mounts.map(({ name, mountPath }) => ({
    name,
    mountPath,
    ...(name === 'runner' ? {} : { readOnly: true }),
  })),
});

const inventoryFile = '/runner/inventory/hosts.yml';

const inventoryItems = ({ spec }: Workspace, { values }: Policy) => [
  { key: 'hosts.yml', path: 'hosts.yml' },
  ...(values.ansibleCredentials ? [{ key: 'known_hosts', path: 'known_hosts' }] : []),
  ...(spec.vms ?? []).map(({ name }) => ({ key: `host_vars.${name}.yml`, path: `host_vars/${name}.yml` })),
];
