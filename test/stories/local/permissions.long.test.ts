import { generatedFolders, readManifests } from '../../../deploy/manifests.ts';
import { grantedRules, inWords } from '../../proofs/permissions/granted.ts';
import { isOfWorkspaces } from '../../proofs/permissions/of-workspaces.ts';
import { proveNeeded } from '../../proofs/permissions/prove-needed.ts';
import { provingPermissions } from '../../proofs/permissions/story-run.ts';
import { subjects } from '../all.ts';
import { postWithFetch, storiesWith } from '../preload.ts';

const { images, input, machines, references } = subjects;

const preload = storiesWith('fetch', postWithFetch);

const stories = provingPermissions({ ...images, ...input, preload, ...machines, ...references });

/** Used at a scrape and by no event: proven in deploy/local/telemetry.slow.test.ts. */
const atScrape = ['start-sync list virtualmachines.pelotech.ot', 'start-sync list workspaces.pelotech.ot'];

/** Without them everything works, at a higher price: proven in the functions' index.test.ts. */
const forItsCost = ['start-sync watch vmdiskimages.pelotech.ot', 'count-refs watch virtualmachines.pelotech.ot'];

const granted = grantedRules(await readManifests(...generatedFolders)).filter(
  (rule) => ![...atScrape, ...forItsCost].includes(inWords(rule)) && !isOfWorkspaces(rule),
);

proveNeeded('what ServiceAccounts are granted', { stories, granted });
