import { hasStatus } from './errors.ts';

/** What was read, or undefined if the kind is not served: its operator is not installed, and no object of it exists. */
export async function ifServed<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (hasStatus(error, 404)) return undefined;
    throw error;
  }
}
