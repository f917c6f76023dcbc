import type { Rule } from './granted.ts';

/** Rules that only stories of workspaces use: those of compose-workspace and of its networks' source, and others' on workspaces. */
export const isOfWorkspaces = ({ account, resource }: Rule) =>
  account === 'compose-workspace' ||
  account === 'source-kube-ovn' ||
  // start-sync lists them at a scrape only.
  (resource === 'workspaces' && !account.startsWith('source-') && account !== 'start-sync');
