/** The namespace of the operator: its policy, its Lease, its functions. */
export const operatorNamespace = 'sync-operator';

/** What a function may do in the Namespaces of workspaces: a ClusterRole that it binds there itself. */
export const inWorkspaceRole = (name: string) => `${operatorNamespace}-${name}-in-workspace`;
