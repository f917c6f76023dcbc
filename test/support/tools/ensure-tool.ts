import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The path of what a script brings to this machine; if it cannot within `timeout` milliseconds, no path, and why in one line. */
export async function ensureTool(
  script: URL,
  timeout: number,
  ...args: string[]
): Promise<{ path: string; missing?: string }> {
  try {
    const { stdout } = await promisify(execFile)(fileURLToPath(script), args, { timeout });
    return { path: stdout.trim() };
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string };
    return { path: '', missing: stderr.trim().split('\n').at(-1) || String(error) };
  }
}
