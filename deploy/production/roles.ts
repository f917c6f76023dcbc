import { parse } from 'yaml';
import { files } from '../../crds/definitions.ts';
import { partOf } from '../../shared/operator.ts';

/** One kind of ours, as its CustomResourceDefinition declares it. */
interface OwnKind {
  group: string;
  plural: string;
}

/** Every kind that crds/ defines, by group and plural. */
export function ownKinds(definitions: Iterable<string> = files().values()): OwnKind[] {
  return [...definitions]
    .map((text) => parse(text) as { spec: { group: string; names: { plural: string } } })
    .map(({ spec }) => ({ group: spec.group, plural: spec.names.plural }))
    .sort((a, b) => `${a.group} ${a.plural}`.localeCompare(`${b.group} ${b.plural}`));
}

/**
 * What users may do with our kinds, added to Kubernetes' own roles view, edit and admin. Only functions write status; only admins may
 * delete all images at once, because replacing each costs a download.
 */
export const roleManifests = (kinds: readonly OwnKind[]) => [
  clusterRole('view', kinds, ['get', 'list', 'watch'], { alsoStatus: ['get'] }),
  clusterRole('edit', kinds, ['create', 'update', 'patch', 'delete']),
  clusterRole('admin', kinds, ['deletecollection']),
];

function clusterRole(
  role: 'view' | 'edit' | 'admin',
  kinds: readonly OwnKind[],
  verbs: readonly string[],
  { alsoStatus = [] }: { alsoStatus?: readonly string[] } = {},
) {
  const rules = [...Map.groupBy(kinds, ({ group }) => group)].flatMap(([group, ofGroup]) => {
    const plurals = ofGroup.map(({ plural }) => plural);
    const status = { apiGroups: [group], resources: plurals.map((plural) => `${plural}/status`), verbs: alsoStatus };
    return [{ apiGroups: [group], resources: plurals, verbs }, ...(alsoStatus.length > 0 ? [status] : [])];
  });
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: {
      name: `ot-functions-${role}`,
      labels: { ...partOf, [`rbac.authorization.k8s.io/aggregate-to-${role}`]: 'true' },
    },
    rules,
  };
}
