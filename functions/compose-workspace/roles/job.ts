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
export function jobFor({ workspace, policy, vm, name, address, siteRoles }: JobParts) {
  const { ansibleRunnerImage, ansibleTimeout, ansibleCredentials } = policy.values;
  const labels = { [machineLabel]: vm.name };
  const metadata = metadataOf(workspace, name, labels);
  const mounts = [
    { name: 'runner', emptyDir: {}, mountPath: '/runner' },
    {
      name: 'inventory',
      // The key of a machine that is removed before the Pod starts is missing.
      configMap: { name: inventoryName, items: inventoryItems(workspace, ansibleCredentials), optional: true },
      mountPath: '/runner/inventory',
    },
    { name: 'env', configMap: { name, items: [{ key: 'extravars', path: 'extravars' }] }, mountPath: '/runner/env' },
    {
      name: 'project',
      configMap: { name, items: projectPaths(vm, siteRoles) },
      mountPath: '/runner/project',
    },
    // Missing it has the Pod wait for it; owned by root and readable by a group it is a key that ssh takes.
    ...(ansibleCredentials
      ? [
          {
            name: 'credentials',
            secret: { secretName: credentialsName, defaultMode: 0o440 },
            mountPath: credentialsFolder,
          },
        ]
      : []),
  ];
  return {
    apiVersion: Job.apiVersion,
    kind: Job.kind,
    metadata,
    spec: {
      backoffLimit: 2,
      activeDeadlineSeconds: Math.max(1, Math.ceil(ansibleTimeout / 1000)),
      // Two Pods at a time would have one address.
      podReplacementPolicy: 'Failed',
      template: {
        metadata: { labels: metadata.labels, annotations: attachment(workspace, policy, address) },
        spec: {
          restartPolicy: 'Never',
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          securityContext: { ...unprivileged, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
              name: 'ansible',
              image: ansibleRunnerImage,
              args: ['ansible-runner', 'run', '/runner', '--playbook', 'site.yml', '--inventory', inventoryFile],
              env: environmentWith(ansibleCredentials),
              securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
              terminationMessagePolicy: 'FallbackToLogsOnError',
              resources: { requests: { cpu: '100m', memory: '256Mi' } },
              volumeMounts: mounts.map(({ name: of, mountPath }) => ({
                name: of,
                mountPath,
                ...(of === 'runner' ? {} : { readOnly: true }),
              })),
            },
          ],
          volumes: mounts.map(({ mountPath: _, ...volume }) => volume),
        },
      },
    },
  };
}

const inventoryFile = '/runner/inventory/hosts.yml';

const environmentWith = (hasHostKeys: boolean) => [
  // A folder that can be written to in any image.
  { name: 'HOME', value: '/runner' },
  // Where we know no host keys a recreated machine has new ones.
  { name: 'ANSIBLE_HOST_KEY_CHECKING', value: hasHostKeys ? 'True' : 'False' },
];

const inventoryItems = ({ spec }: Workspace, hasHostKeys: boolean) => [
  { key: 'hosts.yml', path: 'hosts.yml' },
  ...(hasHostKeys ? [{ key: 'known_hosts', path: 'known_hosts' }] : []),
  ...(spec.vms ?? []).map(({ name }) => ({ key: `host_vars.${name}.yml`, path: `host_vars/${name}.yml` })),
];
