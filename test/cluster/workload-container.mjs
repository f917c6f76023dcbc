/**
 * What containers of workspaces do in stories on a real cluster: nothing until they are told to end, and then that at once.
 * Started as ansible-runner is, it looks that all it was given is there to be read, and says how it ended as the real one
 * does; the role `brokenRouter` fails, and `endlessRouter` comes to no end. No Ansible can be had there: what the real one makes of these files is tested in
 * functions/compose-workspace/roles.
 */
import { accessSync, readFileSync, writeFileSync } from 'node:fs';

const [program, ...given] = process.argv.slice(2);

function waitUntilTold() {
  // A node that is the first process of a container takes no notice of SIGTERM unless it is told to.
  process.once('SIGTERM', () => process.exit(0));
  setInterval(() => {}, 3_600_000);
}

if (program === 'ansible-runner') {
  const [run, folder, , playbook, , inventory] = given;
  if (run !== 'run' || !folder || !playbook || !inventory) throw new Error(`expected a run, found: ${given.join(' ')}`);
  for (const path of [inventory, `${folder}/env/extravars`, `${folder}/project/callback_plugins/outcome.py`])
    accessSync(path);
  // Ansible writes its artifacts and facts there.
  writeFileSync(`${folder}/artifacts`, '');
  const site = readFileSync(`${folder}/project/${playbook}`, 'utf8');
  if (site.includes('endlessRouter')) waitUntilTold();
  else end(site.includes('brokenRouter') ? 'brokenRouter' : undefined);
} else {
  waitUntilTold();
}

/** Says in the container's termination message how the roles ended: as they should, or with one that failed. */
function end(role) {
  const outcome = { ok: 3, changed: 1, failed: role ? 1 : 0, unreachable: 0, role };
  writeFileSync('/dev/termination-log', JSON.stringify(outcome));
  process.exitCode = role ? 2 : 0;
}
