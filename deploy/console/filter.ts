/** What of the objects is shown; kept in the address of the page, so that it can be passed on and Back returns to it. */
export interface Filter {
  /** A state; empty for all. */
  state: string;
  /** Lower case. */
  words: string;
}

export function filterIn(search: string): Filter {
  const params = new URLSearchParams(search);
  return { state: params.get('state') ?? '', words: (params.get('q') ?? '').toLowerCase() };
}

/** The address with that filter; its other parameters stay. */
export function searchWith(search: string, change: Readonly<Record<string, string>>): string {
  const params = new URLSearchParams(search);
  for (const [name, value] of Object.entries(change)) value ? params.set(name, value) : params.delete(name);
  const words = params.toString();
  return words ? `?${words}` : '';
}

/** Whether a row is of the state, and has each word in its name, phase or message. */
export const matches = (
  { state, words }: Filter,
  key: string,
  row: { state: string; phase: string; message: string },
): boolean => {
  if (state && row.state !== state) return false;
  if (!words) return true;
  const about = `${key} ${row.phase} ${row.message}`.toLowerCase();
  return words.split(/\s+/).every((word) => about.includes(word));
};
