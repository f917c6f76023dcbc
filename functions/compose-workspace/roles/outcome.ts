import * as z from 'zod';

/** How a run of roles ended, as the runner wrote it into its termination message: tasks counted, and the role that failed. */
export const Outcome = z.object({
  ok: z.number().catch(0),
  changed: z.number().catch(0),
  failed: z.number().catch(0),
  unreachable: z.number().catch(0),
  role: z.string().optional().catch(undefined),
  /** The machine was unreachable because ssh knows it by another host key. */
  stranger: z.boolean().optional().catch(undefined),
});
export type Outcome = z.infer<typeof Outcome>;

/** Reads it; undefined for anything else that an image or Kubernetes wrote there. */
export function parseOutcome(message: string): Outcome | undefined {
  const text = message.trim();
  if (!text.startsWith('{')) return undefined;
  try {
    return Outcome.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
