import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Where something is that a script brings to this machine and prints the path of; or why it cannot be had, in its last line. */
export async function ensureTool(
  script: URL,
  timeout: number,
): Promise<{ path: string; missing?: undefined } | { missing: string }> {
  try {
    const { stdout } = await promisify(execFile)(fileURLToPath(script), { timeout });
    return { path: stdout.trim() };
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string };
    return { missing: stderr.trim().split('\n').at(-1) || String(error) };
  }
}
