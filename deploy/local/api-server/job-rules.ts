import { isDeepStrictEqual } from 'node:util';
import { fillIn } from './default-values.ts';
import type { Kind } from './kind.ts';
import { type ApiObject, fieldAt, isJsonObject, type JsonObject } from './objects.ts';
import { type Cause, invalid, required } from './schema-cause.ts';
import { completePodSpec, podSpecCauses } from './workload-rules.ts';

const jobDefaults = {
  parallelism: 1,
  backoffLimit: 6,
  completionMode: 'NonIndexed',
  suspend: false,
  manualSelector: false,
  podReplacementPolicy: 'TerminatingOrFailed',
};

function complete({ spec }: ApiObject) {
  if (!isJsonObject(spec)) return;
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
  fillIn(spec, jobDefaults);
  completePodSpec(fieldAt(spec, ['template', 'spec']));
}

/** Labels the Pods of a Job, and sets its selector to them, so that it never selects other Pods. */
function select({ metadata, spec }: ApiObject) {
  if (!isJsonObject(spec) || spec.manualSelector) return;
  const { name, uid } = metadata;
  // The labels of the Pods are those of a Job without any: in the real server they are one map.
  const isBare = Object.keys(metadata.labels ?? {}).length === 0;
  const labels = { 'batch.kubernetes.io/controller-uid': uid, 'batch.kubernetes.io/job-name': name };
  fillIn(spec, { selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } } });
  if (!isJsonObject(spec.template)) return;
  const given = fieldAt(spec.template, ['metadata', 'labels']) as Record<string, string> | undefined;
  const all = { 'controller-uid': uid, 'job-name': name, ...labels, ...given };
  spec.template.metadata = { ...(spec.template.metadata as JsonObject | undefined), labels: all };
  if (isBare) metadata.labels = { ...all };
}

/** What of a Job stays as it was made. */
const fixed = ['completions', 'selector', 'template', 'completionMode', 'podFailurePolicy', 'backoffLimitPerIndex'];

function fixedCauses({ spec }: ApiObject, old: ApiObject): Cause[] {
  return fixed
    .filter((field) => !isDeepStrictEqual(fieldAt(spec, [field]), fieldAt(old.spec, [field])))
    .map((field) => invalid(`spec.${field}`, fieldAt(spec, [field]) ?? null, 'field is immutable'));
}

/** A Job of batch/v1, whose template cannot be exchanged. */
export const jobRules: Partial<Kind> = {
  prepareForCreate: (job) => {
    complete(job);
    select(job);
    job.status = {};
  },
  prepareForUpdate: complete,
  validate: (job, old) => {
    const policy = fieldAt(job.spec, ['template', 'spec', 'restartPolicy']);
    return [
      ...podSpecCauses(fieldAt(job.spec, ['template', 'spec']), 'spec.template.spec'),
      ...(policy === 'Never' || policy === 'OnFailure'
        ? []
        : [required('spec.template.spec.restartPolicy', 'valid values: "OnFailure", "Never"')]),
      ...(old ? fixedCauses(job, old) : []),
    ];
  },
};
