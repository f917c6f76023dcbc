/** The prefix of the namespaces of workspaces: Pods in other namespaces are not simulated. */
const workspacePrefix = 'ws-';

export const isSimulated = (namespace: string | undefined) => namespace?.startsWith(workspacePrefix) ?? false;

/** The scheduler of Pods that name none; importers and launchers name the simulators that run them. */
export const defaultScheduler = 'default-scheduler';
