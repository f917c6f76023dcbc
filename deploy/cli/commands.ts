import type { Listed } from './command.ts';
import { completionOf } from './completion.ts';

/** What each needs is read when it is called: half of a start would be for commands that are not. */
const working: readonly Listed[] = [
  {
    name: 'status',
    about: 'how workspaces, machines and images stand, and the first cause',
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
    name: 'wait',
    about: 'wait until a workspace, machine or image is Ready, or has Failed',
    load: async () => (await import('./wait.ts')).wait,
  },
  {
    name: 'preload',
    about: 'have an image made and downloaded, as a pipeline that published it would',
    load: async () => (await import('./preload.ts')).preload,
  },
  {
    name: 'retry',
    about: 'download an image anew, or try again one that failed',
    load: async () => (await import('./retry.ts')).retry,
  },
  { name: 'keep', about: 'keep an image although nobody uses it', load: async () => (await import('./keep.ts')).keep },
  { name: 'pause', about: 'let no image begin to download', load: async () => (await import('./pause.ts')).pause },
  {
    name: 'resume',
    about: 'let images download again, as many at once as before the pause',
    load: async () => (await import('./pause.ts')).resume,
  },
  {
    name: 'policy',
    about: 'each key of the policy, where its value comes from, and what is wrong with it',
    load: async () => (await import('./policy.ts')).policy,
  },
  {
    name: 'doctor',
    about: 'what is wrong with the installation, and the cure of each',
    load: async () => (await import('./doctor.ts')).doctor,
  },
];

/** Every command, in the order of the help. */
export const commands: readonly Listed[] = [...working, completionOf(working)];
