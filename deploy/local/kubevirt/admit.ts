import * as z from 'zod';
import { ApiError } from '../../../shared/runtime/errors.ts';
import type { AdmissionRequest } from '../cdi/admit.ts';
import { deviceProblems } from './admit-devices.ts';
import { domainProblems } from './admit-domain.ts';
import { type FindHardware, withHardware } from './admit-hardware.ts';
import { volumeProblems } from './admit-volumes.ts';

const Template = z.looseObject({
  metadata: z.looseObject({ name: z.string().default('') }).nullish(),
  spec: z.looseObject({ pvc: z.unknown().optional(), storage: z.unknown().optional() }).default({}),
});

const Matcher = z.looseObject({ name: z.string().optional() }).nullish();

const Spec = z.looseObject({
  running: z.boolean().nullish(),
  runStrategy: z.string().nullish(),
  dataVolumeTemplates: z.array(Template).default([]),
  preference: Matcher,
  instancetype: Matcher,
  template: z.looseObject({ spec: z.record(z.string(), z.unknown()).default({}) }),
});
type Spec = z.infer<typeof Spec>;

const Candidate = z.looseObject({ metadata: z.looseObject({ deletionTimestamp: z.string().optional() }), spec: Spec });

/**
 * KubeVirt's validating webhook for VirtualMachines (KubeVirt pkg/virt-api/webhooks/validating-webhook/admitters/vms-admitter.go),
 * as far as a machine here could run into it: throws an ApiError 422 in its own words, at most ten of them.
 */
export async function admitMachine(
  { operation, resource, subresource, object }: AdmissionRequest,
  find: FindHardware = async () => undefined,
): Promise<void> {
  if (resource.group !== 'kubevirt.io' || resource.resource !== 'virtualmachines' || subresource) return;
  if (operation === 'DELETE' || !object) return;
  const { metadata, spec } = Candidate.parse(object);
  if (metadata.deletionTimestamp) return;
  const hardware = await withHardware(spec, spec.template.spec, find);
  if (hardware.problems.length > 0) refuse(hardware.problems);
  const problems = [
    ...deviceProblems(spec.template.spec),
    ...domainProblems(hardware.template),
    ...volumeProblems(spec.template.spec),
    ...templateProblems(spec),
    ...strategyProblems(spec),
  ];
  if (problems.length > 0) refuse(problems);
}

function refuse(problems: readonly string[]): never {
  const more = problems.length > 10 ? `, and ${problems.length - 10} more validation errors` : '';
  const message = `${problems.slice(0, 10).join(', ')}${more}`;
  throw new ApiError(
    422,
    'Invalid',
    `admission webhook "virtualmachine-validator.kubevirt.io" denied the request: ${message}`,
  );
}

const Referring = z.array(
  z.looseObject({
    dataVolume: z.looseObject({ name: z.string() }).nullish(),
    persistentVolumeClaim: z.looseObject({ claimName: z.string() }).nullish(),
  }),
);

function templateProblems({ dataVolumeTemplates, template }: Spec): string[] {
  const volumes = Referring.default([]).parse(template.spec.volumes);
  const used = volumes.map(
    ({ dataVolume, persistentVolumeClaim }) => dataVolume?.name ?? persistentVolumeClaim?.claimName,
  );
  return dataVolumeTemplates.flatMap(({ metadata, spec }, index) => {
    const at = `spec.dataVolumeTemplate[${index}]`;
    if (!metadata?.name) return [`'name' field must not be empty for DataVolumeTemplate entry ${at}.name.`];
    if (!spec.pvc && !spec.storage) return ['Missing Data volume PVC or Storage'];
    if (spec.pvc && spec.storage) return ['Duplicate storage definition, both target storage and target pvc defined'];
    if (used.includes(metadata.name)) return [];
    return [`DataVolumeTemplate entry ${at} must be referenced in the VMI template's 'volumes' list`];
  });
}

const strategies = ['Halted', 'Manual', 'Always', 'RerunOnFailure', 'Once'];

function strategyProblems({ running, runStrategy }: Spec): string[] {
  const has = (value: unknown) => value !== undefined && value !== null;
  if (has(running) && has(runStrategy))
    return [
      'Running and RunStrategy are mutually exclusive. Note that Running is deprecated, please use RunStrategy instead',
    ];
  if (!has(running) && !has(runStrategy)) return ['RunStrategy must be specified'];
  return !has(runStrategy) || strategies.includes(String(runStrategy)) ? [] : [`Invalid RunStrategy (${runStrategy})`];
}
