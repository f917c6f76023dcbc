/** The namespace of the operator: its policy, its Lease, its functions. */
export const operatorNamespace = 'sync-operator';

/** The Broker for publications, facts and users' Triggers. The others, one for each system, are internal. */
export const publicBroker = 'default';

/** The label of all that is generated or made for an installation, by which it is found again. */
export const partOf = { 'app.kubernetes.io/part-of': 'ot-functions' } as const;

/** The label of what belongs to a part: installer, overlays and chart leave it out by this label. */
export const partLabel = 'pelotech.ot/part';

/** What a function may do in the namespaces of images: a ClusterRole that is bound in each of them. */
export const inImagesRole = (name: string) => `${operatorNamespace}-${name}-in-images`;

/** What a function may do in the Namespaces of workspaces: a ClusterRole that it binds there itself. */
export const inWorkspaceRole = (name: string) => `${operatorNamespace}-${name}-in-workspace`;
