import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command, Story } from './kubectl-story.ts';
import { Mask } from './mask.ts';

/** A cluster as kubectl sees it. */
export interface KubectlWorld {
  kubeconfig: string;
  /** Where it may keep what it discovers. */
  cacheDirectory: string;
}

const patience = { tries: 60, everyMs: 200 };

/** Runs a story's commands in order in a namespace of its own, and gives what each printed, masked, as recordings keep it. */
export async function runStory(world: KubectlWorld, { commands }: Story): Promise<unknown[]> {
  const ns = `contract-${crypto.randomUUID().slice(0, 8)}`;
  await run(world, 'default', { args: ['create', 'namespace', ns] });
  const mask = new Mask(ns);
  const printed: unknown[] = [];
  try {
    for (const command of commands) {
      const { code, lines } = await runUntilRight(world, ns, command);
      const shown = lines.map((line) => masked(mask, line)).filter((line) => command.only?.test(line) ?? true);
      printed.push({ command: mask.text(command.args.join(' ')), code, lines: shown });
    }
  } finally {
    await run(world, 'default', { args: ['delete', 'namespace', ns, '--wait=false'] });
  }
  return printed;
}

async function runUntilRight(world: KubectlWorld, ns: string, command: Command) {
  for (let tries = patience.tries; ; tries--) {
    const result = await run(world, ns, command);
    if (!command.eventually || tries === 1 || result.lines.some((line) => command.eventually?.test(line)))
      return result;
    await sleep(patience.everyMs);
  }
}

async function run(world: KubectlWorld, ns: string, command: Command) {
  const { args, input, editor, meanwhile } = command;
  const filled = (text: string) => text.replaceAll('{ns}', ns);
  const child = spawn(
    'kubectl',
    [
      ...['--kubeconfig', world.kubeconfig, '--cache-dir', world.cacheDirectory, '--namespace', ns],
      // At this level it tells its requests, of which one awaits the watch.
      ...(meanwhile ? ['-v=6'] : []),
      ...args.map(filled),
    ],
    { env: { ...process.env, ...(editor && { KUBE_EDITOR: editor }) } },
  );
  const output = collect(child);
  child.stdin.end(input ? filled(input.map((object) => JSON.stringify(object)).join('\n')) : '');
  if (meanwhile) {
    await output.until((text) => text.includes('watch=true'));
    for (const args of meanwhile.commands) await run(world, ns, { args });
    if (meanwhile.lines) {
      await output.until(() => output.lines().length >= (meanwhile.lines ?? 0));
      child.kill();
    }
  }
  await output.end;
  return { code: meanwhile?.lines ? 0 : child.exitCode, lines: output.lines() };
}

/** What a command printed, to read while it runs. */
function collect(child: ChildProcessWithoutNullStreams) {
  let [stdout, stderr] = ['', ''];
  const waiting = new Set<() => void>();
  const grown = () => {
    for (const check of [...waiting]) check();
  };
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
    grown();
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
    grown();
  });
  const end = once(child, 'close').then(grown);
  const isLog = (line: string) => /^[IWE]\d{4} /.test(line);
  return {
    end,
    lines: () => `${stdout}\n${stderr}`.split('\n').filter((line) => line !== '' && !isLog(line)),
    until: (isThere: (text: string) => boolean) =>
      Promise.race([
        end,
        new Promise<void>((resolve) => {
          const check = () => {
            if (!isThere(stdout + stderr)) return;
            waiting.delete(check);
            resolve();
          };
          waiting.add(check);
          check();
        }),
      ]),
  };
}

/** A printed line without what differs from run to run, or from one release of kubectl to the next. */
const masked = (mask: Mask, line: string) =>
  mask
    .text(line)
    .replaceAll(/(?<=^|\s|\()(?:\d+[smhdy]){1,2}(?=[\s)]|$)/g, '<age>')
    .replaceAll(/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+\d{4}/g, '<time>')
    .replaceAll(/(resourceVersion: |Resource Version: +)"?\d+"?/g, '$1<version>')
    .replace(/ deleted from \S+ namespace(?=$| \()/, ' deleted')
    .replaceAll(/(?<=\S) {2,}/g, '  ')
    .trimEnd();
