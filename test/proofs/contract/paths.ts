/** Paths and patch types that several cases use; `{ns}` is the namespace of the case. */
export const configMaps = '/api/v1/namespaces/{ns}/configmaps';
export const widgets = '/apis/contract.example.com/v1/namespaces/{ns}/widgets';
export const gadgets = '/apis/contract.example.com/v1/namespaces/{ns}/gadgets';
export const deployments = '/apis/apps/v1/namespaces/{ns}/deployments';
export const merge = 'application/merge-patch+json';
export const apply = 'application/apply-patch+yaml';
