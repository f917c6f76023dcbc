/**
 * A plugin of Ansible's, which it finds beside a playbook in callback_plugins/: it writes how the run ended into the
 * container's termination message, where Kubernetes keeps it with the Pod. So any image of ansible-runner tells what failed.
 */
export const outcomePlugin = `import json
import os

from ansible.plugins.callback import CallbackBase


class CallbackModule(CallbackBase):
    """Writes {ok, changed, failed, unreachable, role, stranger} to where Kubernetes reads it."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = 'notification'
    CALLBACK_NAME = 'outcome'

    role = None
    is_waiting = False
    is_stranger = False

    def v2_runner_on_failed(self, result, ignore_errors=False):
        # The last one counts: those before it were rescued.
        self.look(result)
        if not ignore_errors:
            task = getattr(result, 'task', None) or result._task
            self.role = task._role.get_name() if task._role else None
            self.is_waiting = task.action == 'ansible.builtin.wait_for_connection' and not task._role

    def v2_runner_on_unreachable(self, result):
        self.look(result)

    def look(self, result):
        said = getattr(result, 'result', None) or result._result
        self.is_stranger = 'Host key verification failed' in str(said.get('msg'))

    def v2_playbook_on_stats(self, stats):
        hosts = [stats.summarize(host) for host in stats.processed]
        found = {
            name: sum(host[of] for host in hosts)
            for name, of in [('ok', 'ok'), ('changed', 'changed'), ('failed', 'failures'), ('unreachable', 'unreachable')]
        }
        if found['failed'] and self.is_waiting:
            # To Ansible a task that waits in vain failed like any other.
            found['unreachable'], found['failed'] = found['failed'], 0
        if found['unreachable'] and self.is_stranger:
            found['stranger'] = True
        if found['failed'] and self.role:
            found['role'] = self.role
        with open(os.environ.get('OUTCOME_FILE', '/dev/termination-log'), 'w') as file:
            json.dump(found, file)
`;
