import { stringify } from 'yaml';
import * as z from 'zod';
import { KupenStackMachineSpec, KupenStackMachineStatus } from '../shared/kinds/kupenstack/virtual-machine.ts';
import { VirtualNetworkSpec, VirtualNetworkStatus } from '../shared/kinds/kupenstack/virtual-network.ts';
import { VolumeSpec, VolumeStatus } from '../shared/kinds/kupenstack/volume.ts';
import { VirtualMachineSpec, VirtualMachineStatus } from '../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImageSpec, VMDiskImageStatus } from '../shared/kinds/pelotech/vm-disk-image.ts';
import { WorkspaceSpec, WorkspaceStatus } from '../shared/kinds/pelotech/workspace.ts';
import { partOf } from '../shared/operator.ts';

const pelotech = 'pelotech.ot';
const kupenstack = 'kupenstack.io';

/** One CustomResourceDefinition of ours, as data. */
interface Definition {
  /** pelotech.ot unless it says otherwise. */
  group?: string;
  kind: string;
  /** What `kubectl explain` says of it. */
  description: string;
  plural: string;
  shortNames: string[];
  /** What a name may have at most, since others are made of it. */
  longestName: number;
  scope?: 'Cluster' | 'Namespaced';
  /** A Namespace is named after it, which takes no dots. */
  isNamespaceName?: true;
  spec: z.ZodType;
  status: z.ZodType;
  columns: { name: string; type: string; jsonPath: string; priority?: number; description?: string }[];
  selectableFields: string[];
}

/** Why it is in its phase. */
const reason = { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' };
/** Since when it is being deleted, of a kind that has no phase for that. */
const terminating = { name: 'Terminating', type: 'date', jsonPath: '.metadata.deletionTimestamp' };

const definitions: readonly Definition[] = [
  {
    kind: 'VMDiskImage',
    description:
      'A disk image of virtual machines. It waits in the queue for a free slot, is downloaded once, and is kept as a snapshot that machines clone their disks from.',
    plural: 'vmdiskimages',
    shortNames: ['vmdi'],
    // Names of volumes and snapshots are the image's name and some 50 characters more.
    longestName: 200,
    spec: VMDiskImageSpec,
    status: VMDiskImageStatus,
    columns: [
      { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
      reason,
      { name: 'Progress', type: 'string', jsonPath: '.status.progress' },
      { name: 'Place', type: 'string', jsonPath: '.status.place' },
      { name: 'Refs', type: 'integer', jsonPath: '.status.references.count' },
      terminating,
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      { name: 'Starts', type: 'string', jsonPath: '.status.startsAbout', priority: 1 },
      { name: 'Attempts', type: 'integer', jsonPath: '.status.attempts', priority: 1 },
      { name: 'Message', type: 'string', jsonPath: '.status.message', priority: 1 },
      {
        name: 'Holders',
        type: 'string',
        jsonPath: '.status.conditions[?(@.type=="DeletionHeld")].message',
        priority: 1,
      },
    ],
    selectableFields: ['.status.phase', '.status.references.count', '.spec.refresh', '.status.source.content'],
  },
  {
    kind: 'VirtualMachine',
    description:
      'A virtual machine that runs under KubeVirt. It starts only once its image is usable; an image that does not exist is created from vmDiskImageTemplate.',
    plural: 'virtualmachines',
    // KubeVirt's own kind is called the same and has the short name vm.
    shortNames: ['otvm'],
    // The name becomes a label and the name of the host.
    longestName: 63,
    spec: VirtualMachineSpec,
    status: VirtualMachineStatus,
    columns: [
      { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
      { name: 'Image', type: 'string', jsonPath: '.spec.vmDiskImageRef.name' },
      { name: 'IP', type: 'string', jsonPath: '.status.ipAddress' },
      { name: 'Node', type: 'string', jsonPath: '.status.nodeName' },
      terminating,
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      { ...reason, priority: 1 },
      { name: 'Message', type: 'string', jsonPath: '.status.message', priority: 1 },
    ],
    selectableFields: ['.spec.vmDiskImageRef.name', '.spec.vmDiskImageRef.namespace', '.status.phase'],
  },
  {
    kind: 'Workspace',
    description:
      'A lab: machines, containers, volumes and networks with one status and one lifetime. Most of it is made in namespace ws-<name>.',
    plural: 'workspaces',
    shortNames: ['otws'],
    scope: 'Cluster',
    // Its Namespace is called ws-<name>.
    longestName: 60,
    isNamespaceName: true,
    spec: WorkspaceSpec,
    status: WorkspaceStatus,
    columns: [
      { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
      reason,
      { name: 'Ready', type: 'string', jsonPath: '.status.ready' },
      terminating,
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      { name: 'Starts', type: 'string', jsonPath: '.spec.schedule.startAt', priority: 1 },
      { name: 'Expires', type: 'string', jsonPath: '.status.expiresAt', priority: 1 },
      { name: 'Message', type: 'string', jsonPath: '.status.message', priority: 1 },
    ],
    selectableFields: ['.status.phase'],
  },
  {
    group: kupenstack,
    kind: 'VirtualMachine',
    description: 'A virtual machine that runs as a server of OpenStack.',
    plural: 'virtualmachines',
    shortNames: ['vm'],
    // The name becomes that of the host.
    longestName: 63,
    spec: KupenStackMachineSpec,
    status: KupenStackMachineStatus,
    // The two sets of columns of KupenStack's design, word for word.
    columns: [
      { name: 'Status', type: 'string', jsonPath: '.status.phase' },
      { name: 'Restarts', type: 'integer', jsonPath: '.status.restartCount' },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      { name: 'Node', type: 'string', jsonPath: '.status.node', priority: 1 },
      { name: 'Networks(IP)', type: 'string', jsonPath: '.status.ip', priority: 1 },
    ],
    selectableFields: ['.status.phase'],
  },
  {
    group: kupenstack,
    kind: 'VirtualNetwork',
    description: 'A network of OpenStack that virtual machines are attached to, with its subnet.',
    plural: 'virtualnetworks',
    shortNames: ['vn'],
    longestName: 200,
    spec: VirtualNetworkSpec,
    status: VirtualNetworkStatus,
    columns: [
      { name: 'Status', type: 'string', jsonPath: '.status.phase' },
      { name: 'CIDR', type: 'string', jsonPath: '.status.cidr' },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      { name: 'Gateway', type: 'string', jsonPath: '.status.gatewayIP', priority: 1 },
      { name: 'Message', type: 'string', jsonPath: '.status.message', priority: 1 },
    ],
    selectableFields: ['.status.phase'],
  },
  {
    group: kupenstack,
    kind: 'Volume',
    description: 'A volume of OpenStack: a disk that virtual machines boot from or attach.',
    plural: 'volumes',
    shortNames: ['vol'],
    longestName: 200,
    spec: VolumeSpec,
    status: VolumeStatus,
    columns: [
      { name: 'Status', type: 'string', jsonPath: '.status.phase' },
      { name: 'Size', type: 'string', jsonPath: '.status.size' },
      { name: 'Bootable', type: 'boolean', jsonPath: '.status.bootable' },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      { name: 'Server', type: 'string', jsonPath: '.status.server', priority: 1 },
      { name: 'Message', type: 'string', jsonPath: '.status.message', priority: 1 },
    ],
    selectableFields: ['.status.phase', '.status.server'],
  },
];

/** The manifest of a CustomResourceDefinition, from the zod schema its objects are read with. */
function customResourceDefinition({
  group = pelotech,
  kind,
  description,
  plural,
  shortNames,
  longestName,
  scope = 'Namespaced',
  isNamespaceName,
  spec,
  status,
  columns,
  selectableFields,
}: Definition) {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, labels: partOf },
    spec: {
      group,
      scope,
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase(), shortNames, categories: ['ot'] },
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: columns,
          selectableFields: selectableFields.map((jsonPath) => ({ jsonPath })),
          schema: {
            openAPIV3Schema: {
              description,
              type: 'object',
              required: ['spec'],
              'x-kubernetes-validations': [
                {
                  rule: `size(self.metadata.name) <= ${longestName}`,
                  message: `metadata.name: expected at most ${longestName} characters`,
                },
                ...(isNamespaceName
                  ? [
                      {
                        rule: "!self.metadata.name.contains('.')",
                        message: 'metadata.name: expected no dot, for a Namespace is named after it',
                      },
                    ]
                  : []),
              ],
              properties: {
                apiVersion: { type: 'string' },
                kind: { type: 'string' },
                metadata: { type: 'object' },
                spec: structural(spec, 'What is wanted. Its author writes it.'),
                status: structural(status, 'What was observed. Only the functions write it.', {
                  observedGeneration: -1,
                }),
              },
            },
          },
        },
      ],
    },
  };
}

const structural = (schema: z.ZodType, description: string, byDefault?: object) => {
  const { $schema: _dropped, ...json } = z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input' });
  return withoutAdditional({ description, ...json, ...(byDefault && { default: byDefault }) });
};

/** A structural schema allows `additionalProperties` only where there are no `properties`. */
function withoutAdditional(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutAdditional);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, withoutAdditional(inner)] as const);
  const isObjectSchema = 'properties' in value && typeof value.properties === 'object';
  return Object.fromEntries(entries.filter(([key]) => !(isObjectSchema && key === 'additionalProperties')));
}

/** Every kind that is defined here. */
export const ownKinds = definitions
  .map(({ group = pelotech, plural }) => ({ group, plural }))
  .sort((a, b) => `${a.group} ${a.plural}`.localeCompare(`${b.group} ${b.plural}`));

/** Two groups have a kind of the same name. */
const fileOf = ({ group, plural }: Definition) =>
  group === kupenstack ? `kupenstack-${plural}.yaml` : `${plural}.yaml`;
const folderOf = ({ group }: Definition) => (group === kupenstack ? 'kupenstack' : 'pelotech');

/** The files of this folder that are generated: name → text. */
export function files(): Map<string, string> {
  return new Map(
    definitions.map((definition) => [
      fileOf(definition),
      `# Generated by \`npm run generate\` from shared/kinds/${folderOf(definition)}; edit that.\n${stringify(customResourceDefinition(definition), { lineWidth: 120 })}`,
    ]),
  );
}
