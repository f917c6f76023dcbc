import {
  claimRules,
  configMapRules,
  eventRules,
  leaseRules,
  secretRules,
  serviceRules,
  storageClassRules,
} from './core-rules.ts';
import { customResourceDefinitionRules } from './custom-resource-definition.ts';
import type { Kind } from './kind.ts';
import { namespaceRules } from './namespace-rules.ts';
import { bindingRules, roleRules } from './rbac-rules.ts';
import { deploymentRules, podRules } from './workload-rules.ts';

/** What the server itself sets, checks and holds on to in the kinds it knows by heart, by kind. */
export const builtInRules: Record<string, Partial<Kind>> = {
  ClusterRole: roleRules,
  ClusterRoleBinding: bindingRules,
  ConfigMap: configMapRules,
  CustomResourceDefinition: customResourceDefinitionRules,
  Deployment: deploymentRules,
  Event: eventRules,
  Lease: leaseRules,
  Namespace: namespaceRules,
  PersistentVolumeClaim: claimRules,
  Pod: podRules,
  Role: roleRules,
  RoleBinding: bindingRules,
  Secret: secretRules,
  Service: serviceRules,
  StorageClass: storageClassRules,
};
