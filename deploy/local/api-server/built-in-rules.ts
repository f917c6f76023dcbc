import { claimRules, configMapRules, eventRules, leaseRules, secretRules, storageClassRules } from './core-rules.ts';
import { customResourceDefinitionRules } from './custom-resource-definition.ts';
import { jobRules } from './job-rules.ts';
import type { Kind } from './kind.ts';
import { namespaceRules } from './namespace-rules.ts';
import { networkPolicyRules } from './network-policy-rules.ts';
import { policyBindingRules, policyRules } from './policy-rules.ts';
import { bindingRules, roleRules } from './rbac-rules.ts';
import { serviceRules } from './service-rules.ts';
import { deploymentRules, podRules, replicaSetRules } from './workload-rules.ts';

/** What the server itself sets, checks and holds on to in the kinds it knows by heart, by kind. */
export const builtInRules: Record<string, Partial<Kind>> = {
  ClusterRole: roleRules,
  ClusterRoleBinding: bindingRules,
  ConfigMap: configMapRules,
  CustomResourceDefinition: customResourceDefinitionRules,
  Deployment: deploymentRules,
  Event: eventRules,
  Job: jobRules,
  Lease: leaseRules,
  Namespace: namespaceRules,
  NetworkPolicy: networkPolicyRules,
  PersistentVolumeClaim: claimRules,
  Pod: podRules,
  ReplicaSet: replicaSetRules,
  Role: roleRules,
  RoleBinding: bindingRules,
  Secret: secretRules,
  Service: serviceRules,
  StorageClass: storageClassRules,
  ValidatingAdmissionPolicy: policyRules,
  ValidatingAdmissionPolicyBinding: policyBindingRules,
};
