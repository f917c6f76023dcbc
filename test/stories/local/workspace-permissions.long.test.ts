import { generatedFolders, readManifests } from '../../../deploy/manifests.ts';
import { grantedRules } from '../../proofs/permissions/granted.ts';
import { isOfWorkspaces } from '../../proofs/permissions/of-workspaces.ts';
import { proveNeeded } from '../../proofs/permissions/prove-needed.ts';
import { provingPermissions } from '../../proofs/permissions/story-run.ts';
import { subjects } from '../all.ts';

const stories = provingPermissions({ ...subjects.workspaces, ...subjects['workspace-faults'] });

const granted = grantedRules(await readManifests(...generatedFolders)).filter(isOfWorkspaces);

proveNeeded('what ServiceAccounts are granted for workspaces', { stories, granted });
