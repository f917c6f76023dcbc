/** Namespaces of workspaces: what stands in any other is none of ours to run. */
export const workspacePrefix = 'ws-';

export const isPlayed = (namespace: string | undefined) => namespace?.startsWith(workspacePrefix) ?? false;

/** The scheduler of Pods that name none; importers and launchers name the simulators that run them. */
export const defaultScheduler = 'default-scheduler';
