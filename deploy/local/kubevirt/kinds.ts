import * as z from 'zod';
import { defineResource, type ObjectOf } from '../../../shared/kinds/resource.ts';
import { Condition as Common } from '../controller/kinds.ts';

const Labelled = z.looseObject({
  name: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
});

const Named = z.looseObject({ name: z.string() });

const CloudInit = z.looseObject({ secretRef: Named.optional(), networkDataSecretRef: Named.optional() });

const Volume = z.looseObject({
  name: z.string(),
  dataVolume: Named.optional(),
  persistentVolumeClaim: z.looseObject({ claimName: z.string() }).optional(),
  cloudInitNoCloud: CloudInit.optional(),
  cloudInitConfigDrive: CloudInit.optional(),
});
type Volume = z.infer<typeof Volume>;

const Network = z.looseObject({
  name: z.string(),
  multus: z.looseObject({ networkName: z.string() }).optional(),
  pod: z.looseObject({}).optional(),
});
export type Network = z.infer<typeof Network>;

const Probe = z.looseObject({
  guestAgentPing: z.looseObject({}).optional(),
  tcpSocket: z.looseObject({ port: z.union([z.number(), z.string()]) }).optional(),
  initialDelaySeconds: z.number().default(0),
  periodSeconds: z.number().default(10),
  failureThreshold: z.number().default(3),
});
export type Probe = z.infer<typeof Probe>;

const InstanceSpec = z.looseObject({
  domain: z.looseObject({
    devices: z.looseObject({
      interfaces: z.array(z.looseObject({ name: z.string(), macAddress: z.string().optional() })).optional(),
    }),
  }),
  networks: z.array(Network).optional(),
  volumes: z.array(Volume).optional(),
  readinessProbe: Probe.optional(),
  livenessProbe: Probe.optional(),
  serviceAccountName: z.string().optional(),
  terminationGracePeriodSeconds: z.number().optional(),
});
export type InstanceSpec = z.infer<typeof InstanceSpec>;

const Condition = Common.extend({ lastProbeTime: z.string().nullish(), lastTransitionTime: z.string().nullish() });
export type Condition = z.infer<typeof Condition>;

const DataVolumeTemplate = z.looseObject({
  metadata: Labelled.extend({ name: z.string() }),
  spec: z.looseObject({
    source: z
      .looseObject({ snapshot: z.looseObject({ namespace: z.string().optional(), name: z.string() }).optional() })
      .optional(),
  }),
});
export type DataVolumeTemplate = z.infer<typeof DataVolumeTemplate>;

const StartFailure = z.looseObject({
  consecutiveFailCount: z.number().default(0),
  lastFailedVMIUID: z.string().optional(),
  retryAfterTimestamp: z.string().optional(),
});

const MachineStatus = z.looseObject({
  created: z.boolean().optional(),
  ready: z.boolean().optional(),
  printableStatus: z.string().optional(),
  runStrategy: z.string().optional(),
  conditions: z.array(Condition).optional(),
  startFailure: StartFailure.nullish(),
  stateChangeRequests: z.array(z.looseObject({ action: z.string(), uid: z.string().optional() })).optional(),
  desiredGeneration: z.number().optional(),
  observedGeneration: z.number().optional(),
});
export type MachineStatus = z.infer<typeof MachineStatus>;

const Matcher = z.looseObject({ name: z.string().optional(), kind: z.string().optional() }).optional();

/** KubeVirt's VirtualMachine: what is to run, and when. */
export const VirtualMachine = defineResource(
  { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', plural: 'virtualmachines' },
  {
    spec: z.looseObject({
      running: z.boolean().optional(),
      runStrategy: z.string().optional(),
      preference: Matcher,
      instancetype: Matcher,
      dataVolumeTemplates: z.array(DataVolumeTemplate).optional(),
      template: z.looseObject({ metadata: Labelled.nullish(), spec: InstanceSpec }),
    }),
    status: MachineStatus.optional(),
  },
);
export type VirtualMachine = ObjectOf<typeof VirtualMachine>;

const Interface = z.looseObject({
  name: z.string().optional(),
  mac: z.string().optional(),
  ipAddress: z.string().optional(),
  ipAddresses: z.array(z.string()).optional(),
  interfaceName: z.string().optional(),
  podInterfaceName: z.string().optional(),
  infoSource: z.string().optional(),
});
export type Interface = z.infer<typeof Interface>;

const InstanceStatus = z.looseObject({
  phase: z.string().optional(),
  reason: z.string().optional(),
  nodeName: z.string().optional(),
  conditions: z.array(Condition).optional(),
  interfaces: z.array(Interface).optional(),
  phaseTransitionTimestamps: z
    .array(z.looseObject({ phase: z.string(), phaseTransitionTimestamp: z.string().optional() }))
    .optional(),
});
export type InstanceStatus = z.infer<typeof InstanceStatus>;

/** One run of a machine. Its status is no subresource: it is written with the object. */
export const VirtualMachineInstance = defineResource(
  { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', plural: 'virtualmachineinstances' },
  { spec: InstanceSpec, status: InstanceStatus.optional() },
);
export type VirtualMachineInstance = ObjectOf<typeof VirtualMachineInstance>;

export const phaseOf = ({ status }: VirtualMachineInstance) => status?.phase ?? '';
export const isFinal = (instance: VirtualMachineInstance) => ['Succeeded', 'Failed'].includes(phaseOf(instance));

/** Whether it has ever run. */
export const hasRun = ({ status }: VirtualMachineInstance) =>
  (status?.phaseTransitionTimestamps ?? []).some(({ phase }) => phase === 'Running');

export const claimNameOf = ({ dataVolume, persistentVolumeClaim }: Volume) =>
  dataVolume?.name ?? persistentVolumeClaim?.claimName;

/** The Secrets that hold a machine's cloud-init data. */
export const secretNamesOf = ({ volumes = [] }: InstanceSpec) =>
  volumes.flatMap(({ cloudInitNoCloud, cloudInitConfigDrive }) => {
    const { secretRef, networkDataSecretRef } = cloudInitNoCloud ?? cloudInitConfigDrive ?? {};
    return [secretRef?.name, networkDataSecretRef?.name].filter((name) => name !== undefined);
  });

/** The names by which KubeVirt's controllers know each other's work. */
export const word = {
  machineFinalizer: 'kubevirt.io/virtualMachineControllerFinalize',
  instanceFinalizer: 'kubevirt.io/foregroundDeleteVirtualMachine',
  createdBy: 'kubevirt.io/created-by',
  generation: 'kubevirt.io/vm-generation',
  immediateDataVolumeCreation: 'kubevirt.io/immediate-data-volume-creation',
  ephemeralProvisioning: 'kubevirt.io/ephemeral-provisioning',
  nodeName: 'kubevirt.io/nodeName',
  preference: 'kubevirt.io/cluster-preference-name',
  instancetype: 'kubevirt.io/cluster-instancetype-name',
} as const;
