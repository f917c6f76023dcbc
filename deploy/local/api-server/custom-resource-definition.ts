import { customKinds, definitionOf } from './custom-kinds.ts';
import type { Kind } from './kind.ts';
import { type ApiObject, isJsonObject } from './objects.ts';
import { type Cause, invalid, required } from './schema-cause.ts';

/** Holds a deleted CustomResourceDefinition until its objects are gone. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

/** What the server sets and checks in a CustomResourceDefinition. */
export const customResourceDefinitionRules: Pick<Kind, 'prepareForCreate' | 'prepareForUpdate' | 'validate'> = {
  prepareForCreate: (crd, now) => {
    if (!isDefinition(crd)) return;
    crd.metadata.finalizers = [...new Set([...(crd.metadata.finalizers ?? []), cleanupFinalizer])];
    fillIn(crd);
    crd.status = {
      conditions: [
        condition('NamesAccepted', 'NoConflicts', 'no conflicts found', now),
        condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted', now),
      ],
      ...acceptedIn(crd),
    };
  },
  prepareForUpdate: (crd) => {
    if (!isDefinition(crd)) return;
    fillIn(crd);
    if (isJsonObject(crd.status)) crd.status = { ...crd.status, ...acceptedIn(crd) };
  },
  validate: (crd) => {
    if (!isDefinition(crd)) return [required('spec.versions', 'must have at least one version')];
    return [...nameCauses(crd), ...versionCauses(crd)];
  },
};

const isDefinition = ({ spec }: ApiObject) =>
  isJsonObject(spec) && isJsonObject(spec.names) && Array.isArray(spec.versions) && spec.versions.every(isJsonObject);

function fillIn(crd: ApiObject) {
  const definition = definitionOf(crd) as ReturnType<typeof definitionOf> & { conversion?: unknown };
  const { names } = definition;
  names.singular ||= String(names.kind).toLowerCase();
  names.listKind ||= `${names.kind}List`;
  definition.conversion ??= { strategy: 'None' };
}

function acceptedIn(crd: ApiObject) {
  const { names, versions } = definitionOf(crd);
  return {
    acceptedNames: names,
    storedVersions: versions.filter((version) => version.storage).map(({ name }) => name),
  };
}

const condition = (type: string, reason: string, message: string, now: string) => ({
  type,
  status: 'True',
  lastTransitionTime: now,
  reason,
  message,
});

function nameCauses(crd: ApiObject): Cause[] {
  const { group, scope, names } = definitionOf(crd);
  const expected = `${names.plural}.${group}`;
  return [
    ...(crd.metadata.name === expected
      ? []
      : [invalid('metadata.name', crd.metadata.name, `must be spec.names.plural+"."+spec.group`)]),
    ...(group ? [] : [required('spec.group')]),
    ...(names.kind ? [] : [required('spec.names.kind')]),
    ...(['Namespaced', 'Cluster'].includes(scope) ? [] : [required('spec.scope', 'Namespaced or Cluster')]),
  ];
}

function versionCauses(crd: ApiObject): Cause[] {
  const { versions } = definitionOf(crd);
  const stored = versions.filter((version) => version.storage).length;
  const without = versions.flatMap((version, index) =>
    version.schema?.openAPIV3Schema
      ? []
      : [required(`spec.versions[${index}].schema.openAPIV3Schema`, 'schemas are required')],
  );
  if (stored !== 1) {
    return [...without, invalid('spec.versions', stored, 'must have exactly one version marked as storage version')];
  }
  return [...without, ...unservable(crd)];
}

/** What in the schemas, rules or column paths does not compile. */
function unservable(crd: ApiObject): Cause[] {
  try {
    customKinds(crd);
    return [];
  } catch (error) {
    return [invalid('spec.versions', crd.metadata.name, error instanceof Error ? error.message : String(error))];
  }
}
