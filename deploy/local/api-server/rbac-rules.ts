import { isDeepStrictEqual } from 'node:util';
import { fillIn } from './default-values.ts';
import type { Kind } from './kind.ts';
import { type ApiObject, isJsonObject, listAt, objectsAt } from './objects.ts';
import { type Cause, invalid, required } from './schema-cause.ts';

const group = 'rbac.authorization.k8s.io';

const isEmpty = (list: unknown) => listAt(list).length === 0;

/** A Role or ClusterRole: each rule says what, of which group, may be done. */
export const roleRules: Partial<Kind> = {
  validate: ({ rules }) =>
    objectsAt(rules).flatMap((rule, index): Cause[] => {
      const at = `rules[${index}]`;
      const verbs = isEmpty(rule.verbs) ? [required(`${at}.verbs`, 'verbs must contain at least one value')] : [];
      if (!isEmpty(rule.nonResourceURLs)) return verbs;
      return [
        ...verbs,
        ...(isEmpty(rule.apiGroups)
          ? [required(`${at}.apiGroups`, 'resource rules must supply at least one api group')]
          : []),
        ...(isEmpty(rule.resources)
          ? [required(`${at}.resources`, 'resource rules must supply at least one resource')]
          : []),
      ];
    }),
};

function complete(binding: ApiObject) {
  if (isJsonObject(binding.roleRef)) fillIn(binding.roleRef, { apiGroup: group });
  for (const subject of objectsAt(binding.subjects)) {
    if (subject.kind === 'User' || subject.kind === 'Group') fillIn(subject, { apiGroup: group });
  }
}

/** A RoleBinding or ClusterRoleBinding, whose role cannot be exchanged. */
export const bindingRules: Partial<Kind> = {
  prepareForCreate: complete,
  prepareForUpdate: complete,
  validate: ({ roleRef, subjects }, old) => [
    ...(isJsonObject(roleRef) && roleRef.name ? [] : [required('roleRef.name')]),
    ...(old && !isDeepStrictEqual(roleRef, old.roleRef) ? [invalid('roleRef', roleRef, 'cannot change roleRef')] : []),
    ...objectsAt(subjects).flatMap(({ name }, index) => (name ? [] : [required(`subjects[${index}].name`)])),
  ],
};
