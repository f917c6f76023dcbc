import { ownKinds } from '../../crds/definitions.ts';
import { partOf } from '../../shared/operator.ts';

/**
 * What users may do with our kinds, added to Kubernetes' own roles view, edit and admin. Only functions write status; only admins may
 * delete all images at once, because replacing each costs a download.
 */
export const roleManifests = () => [
  clusterRole('view', ['get', 'list', 'watch'], { alsoStatus: ['get'] }),
  clusterRole('edit', ['create', 'update', 'patch', 'delete']),
  clusterRole('admin', ['deletecollection']),
];

function clusterRole(
  role: 'view' | 'edit' | 'admin',
  verbs: readonly string[],
  { alsoStatus = [] }: { alsoStatus?: readonly string[] } = {},
) {
  const rules = [...Map.groupBy(ownKinds, ({ group }) => group)].flatMap(([group, ofGroup]) => {
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
