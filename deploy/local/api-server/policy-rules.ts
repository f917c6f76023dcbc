import { fillIn } from './default-values.ts';
import type { Kind } from './kind.ts';
import { type ApiObject, fieldAt, isJsonObject, type JsonObject, listAt } from './objects.ts';
import { compilePolicy } from './policy-program.ts';
import { type Cause, invalid, notSupported, required } from './schema-cause.ts';

function completeMatch(match: unknown) {
  if (!isJsonObject(match)) return;
  fillIn(match, { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} });
  for (const rule of [...listAt(match, 'resourceRules'), ...listAt(match, 'excludeResourceRules')]) {
    if (isJsonObject(rule)) fillIn(rule, { scope: '*' });
  }
}

function completePolicy({ spec }: ApiObject) {
  if (!isJsonObject(spec)) return;
  fillIn(spec, { failurePolicy: 'Fail' });
  completeMatch(spec.matchConstraints);
}

function policyCauses(policy: ApiObject): Cause[] {
  const { spec } = policy;
  const faults: Cause[] = [];
  compilePolicy(policy, (field, source, why) => faults.push(invalid(field, source, why)));
  const isEmpty = listAt(spec, 'validations').length + listAt(spec, 'auditAnnotations').length === 0;
  const none = 'validations or auditAnnotations must contain at least one item';
  return [
    ...(fieldAt(spec, ['matchConstraints']) ? ruleCauses(spec) : [required('spec.matchConstraints')]),
    ...faults,
    ...(isEmpty ? [required('spec.validations', none), required('spec.auditAnnotations', none)] : []),
  ];
}

function ruleCauses(spec: unknown): Cause[] {
  const rules = listAt(spec, 'matchConstraints', 'resourceRules');
  const at = 'spec.matchConstraints.resourceRules';
  if (rules.length === 0) return [required(at)];
  return rules.flatMap((rule, index) =>
    ['operations', 'apiGroups', 'apiVersions', 'resources'].flatMap((field) =>
      listAt(rule, field).length > 0 ? [] : [required(`${at}[${index}].${field}`)],
    ),
  );
}

/** What a cluster refuses, in words of its own. */
export const policyRules: Partial<Kind> = {
  prepareForCreate: (policy) => {
    completePolicy(policy);
    policy.status = {};
  },
  prepareForUpdate: completePolicy,
  validate: policyCauses,
};

const actions = ['Audit', 'Deny', 'Warn'];

function bindingCauses({ spec }: ApiObject): Cause[] {
  const listed = listAt(spec, 'validationActions');
  const at = 'spec.validationActions';
  const both =
    'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
  return [
    ...(fieldAt(spec, ['policyName']) ? [] : [required('spec.policyName')]),
    ...listed.flatMap((action, index) =>
      actions.includes(String(action)) ? [] : [notSupported(`${at}[${index}]`, action, actions)],
    ),
    ...(listed.includes('Deny') && listed.includes('Warn') ? [invalid(at, listed, both)] : []),
    ...(listed.length === 0 ? [required(at, 'at least one validation action is required')] : []),
  ];
}

const completeBinding = ({ spec }: ApiObject) => completeMatch((spec as JsonObject | undefined)?.matchResources);

/** That a policy holds, and where. */
export const policyBindingRules: Partial<Kind> = {
  prepareForCreate: completeBinding,
  prepareForUpdate: completeBinding,
  validate: bindingCauses,
};
