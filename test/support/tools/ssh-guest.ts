import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** The SSH server that `installAnsible` installs beside Ansible: sshd is not everywhere, and must be root. */
export const sshServer = 'asyncssh==2.24.1';

const server = `import asyncio, json, sys
import asyncssh

async def run(process):
    pipes = {name: asyncio.subprocess.PIPE for name in ('stdin', 'stdout', 'stderr')}
    child = await asyncio.create_subprocess_shell(process.command, **pipes)
    await process.redirect(child.stdin, child.stdout, child.stderr)
    process.exit(await child.wait())

async def main():
    guest = json.loads(sys.argv[1])
    listening = await asyncssh.listen(
        '127.0.0.1', 0, process_factory=run, sftp_factory=True, encoding=None,
        server_host_keys=[asyncssh.import_private_key(guest['hostKey'])],
        authorized_client_keys=asyncssh.import_authorized_keys(guest['authorizedKeys']))
    print(listening.get_port(), flush=True)
    await listening.wait_closed()

asyncio.run(main())
`;

/** This machine as a guest that these keys of ssh open, under any login; `bin` is where Ansible is. */
export async function startGuest(bin: string, guest: { hostKey: string; authorizedKeys: string }) {
  const child = spawn(join(bin, 'python'), ['-c', server, JSON.stringify(guest)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { port: Number(line.toString()), close: () => child.kill() };
}
