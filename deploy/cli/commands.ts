import { type Command, type Listed, loaded } from './command.ts';

/** Every command, in the order of the help. Each is loaded when it is called: loading all of them would double the start-up time. */
export const commands: readonly Listed[] = [
  {
    name: 'status',
    about: 'the state of workspaces, machines and images, and the first cause',
    load: async () => (await import('./status.ts')).status,
  },
  {
    name: 'why',
    about: 'the first cause why something is not Ready, and what would help',
    load: async () => (await import('./why.ts')).why,
  },
  {
    name: 'queue',
    about: 'who holds the slots, who waits in which place, and when it may start',
    load: async () => (await import('./queue.ts')).queue,
  },
  {
    name: 'cost',
    about: 'what downloads cost, by namespace, image or requester, and what the budget leaves',
    load: async () => (await import('./cost.ts')).cost,
  },
  {
    name: 'wait',
    about: 'wait until a workspace, machine or image is Ready, or has Failed',
    load: async () => (await import('./wait.ts')).wait,
  },
  {
    name: 'preload',
    about: 'create an image and download it, as a pipeline that publishes it would',
    load: async () => (await import('./preload.ts')).preload,
  },
  {
    name: 'retry',
    about: 'download an image again, or retry one that failed',
    load: async () => (await import('./retry.ts')).retry,
  },
  { name: 'keep', about: 'keep an image even if nothing uses it', load: async () => (await import('./keep.ts')).keep },
  {
    name: 'extend',
    about: 'put off when a workspace expires',
    load: async () => (await import('./lifetime.ts')).extend,
  },
  {
    name: 'hibernate',
    about: 'stop the machines and containers of a workspace; disks stay',
    load: async () => (await import('./lifetime.ts')).hibernate,
  },
  {
    name: 'wake',
    about: 'start again what hibernation stopped',
    load: async () => (await import('./lifetime.ts')).wake,
  },
  { name: 'pause', about: 'start no further downloads', load: async () => (await import('./pause.ts')).pause },
  {
    name: 'resume',
    about: 'start downloads again, with the concurrency from before the pause',
    load: async () => (await import('./pause.ts')).resume,
  },
  {
    name: 'policy',
    about: 'each key of the policy, where its value comes from, and what is wrong with it',
    load: async () => (await import('./policy.ts')).policy,
  },
  {
    name: 'doctor',
    about: 'what is wrong with the installation, and how to correct it',
    load: async () => (await import('./doctor.ts')).doctor,
  },
  {
    name: 'check',
    about: 'what the cluster has, and lacks, for an installation',
    load: async () => (await import('./install/commands.ts')).bodies.check,
  },
  {
    name: 'install',
    about: 'install the functions on the cluster',
    load: async () => (await import('./install/commands.ts')).bodies.install,
  },
  {
    name: 'upgrade',
    about: 'bring the installation to this release',
    load: async () => (await import('./install/commands.ts')).bodies.upgrade,
  },
  {
    name: 'uninstall',
    about: 'remove the functions; images and machines stay',
    load: async () => (await import('./install/commands.ts')).bodies.uninstall,
  },
  {
    name: 'kind',
    about: 'a cluster on this machine, in Docker, with the functions of this checkout',
    load: async () => (await import('./kind.ts')).kind,
  },
  {
    name: 'version',
    about: 'the release of this command, and of the functions of the cluster',
    load: async () => (await import('./version.ts')).version,
  },
  {
    name: 'completion',
    about: 'a script that completes all of this in a shell',
    load: async () => (await import('./completion.ts')).completion,
  },
];

/** The command of that name, loaded; undefined if there is none. */
export async function commandOf(name: string): Promise<Command | undefined> {
  const listed = commands.find((known) => known.name === name);
  return listed && loaded(listed);
}
