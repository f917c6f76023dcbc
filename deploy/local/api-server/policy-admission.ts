import type { AdmissionRequest } from './admission.ts';
import { userNamed } from './authentication.ts';
import { dynamicValue } from './cel-dynamic.ts';
import type { ClusterState } from './cluster-state.ts';
import { type ApiObject, fieldAt } from './objects.ts';
import { isMeant } from './policy-match.ts';
import { compilePolicy, type Denial, denialsOf, type PolicyProgram } from './policy-program.ts';
import { StatusError } from './status-error.ts';

const group = 'admissionregistration.k8s.io';

/** Policies whose expressions have been compiled; the store gives out the same object until it changes. */
const programs = new WeakMap<ApiObject, PolicyProgram>();

/**
 * Asks the ValidatingAdmissionPolicies that are bound, as the last thing before a write; throws for the first that denies it, and
 * tells the warnings of others. Policies themselves are exempt, so that a wrong one can be taken away.
 */
export function askPolicies(state: ClusterState, request: AdmissionRequest, warn: (message: string) => void): void {
  if (request.resource.group === group) return;
  const bindings = state.store.list(`${group}/validatingadmissionpolicybindings`);
  for (const binding of bindings) {
    const policy = state.store.get(
      `${group}/validatingadmissionpolicies`,
      undefined,
      String(fieldAt(binding.spec, ['policyName'])),
    );
    if (!policy || !isMeant(state, fieldAt(policy.spec, ['matchConstraints']), request)) continue;
    if (!isMeant(state, fieldAt(binding.spec, ['matchResources']), request)) continue;
    const denials = denialsOf(programOf(policy), variablesOf(state, request));
    answer(request, policy, binding, denials, warn);
  }
}

function programOf(policy: ApiObject): PolicyProgram {
  const known = programs.get(policy) ?? compilePolicy(policy, () => undefined);
  programs.set(policy, known);
  return known;
}

function answer(
  request: AdmissionRequest,
  policy: ApiObject,
  binding: ApiObject,
  denials: Denial[],
  warn: (message: string) => void,
) {
  const actions = fieldAt(binding.spec, ['validationActions']);
  const does = (action: string) => Array.isArray(actions) && actions.includes(action);
  const [policyName, bindingName] = [policy.metadata.name, binding.metadata.name];
  if (does('Warn')) {
    for (const { message } of denials) {
      warn(`Validation failed for ValidatingAdmissionPolicy '${policyName}' with binding '${bindingName}': ${message}`);
    }
  }
  const [first] = denials;
  if (!first || !does('Deny')) return;
  throw denied(
    request,
    first,
    `ValidatingAdmissionPolicy '${policyName}' with binding '${bindingName}' denied request: `,
  );
}

const statuses: Record<string, number> = { Unauthorized: 401, Forbidden: 403, RequestEntityTooLarge: 413 };

function denied({ resource, object, oldObject }: AdmissionRequest, { message, reason }: Denial, who: string) {
  const { name = '' } = (object ?? oldObject)?.metadata ?? {};
  const { group: of, resource: plural } = resource;
  const text = `${plural}${of && `.${of}`} "${name}" is forbidden: ${who}${message}`;
  const details = { name, ...(of && { group: of }), kind: plural, causes: [{ message: `${who}${message}` }] };
  return new StatusError(statuses[reason] ?? 422, reason, text, details);
}

/** What expressions see of a request (k8s.io/apiserver, admission/plugin/cel); what is empty is not there, as in its JSON. */
function variablesOf({ kinds, store }: ClusterState, request: AdmissionRequest): Record<string, unknown> {
  const { operation, resource, subresource, object, oldObject, user, dryRun } = request;
  const { name, namespace = ownNamespace(request) } = (object ?? oldObject)?.metadata ?? {};
  const { group: of, version, resource: plural } = resource;
  const kind = { group: of, version, kind: kinds.find(of, version, plural)?.kind ?? '' };
  const about = {
    kind,
    resource,
    requestKind: kind,
    requestResource: resource,
    ...(subresource && { subResource: subresource, requestSubResource: subresource }),
    ...(name && { name }),
    ...(namespace && { namespace }),
    operation,
    userInfo: { username: user, groups: request.groups ?? userNamed(user).groups },
    dryRun,
  };
  return {
    object: dynamicValue(object ?? null),
    oldObject: dynamicValue(oldObject ?? null),
    request: dynamicValue(about),
    params: null,
    namespaceObject: dynamicValue(
      (plural !== 'namespaces' && namespace && store.get('/namespaces', undefined, namespace)) || null,
    ),
  };
}

/** A Namespace is in itself. */
const ownNamespace = ({ resource, object, oldObject }: AdmissionRequest) =>
  resource.group === '' && resource.resource === 'namespaces' ? (object ?? oldObject)?.metadata.name : undefined;
