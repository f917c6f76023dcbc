/** The namespace of the operator: its policy, its Lease, its functions. */
export const operatorNamespace = 'sync-operator';
