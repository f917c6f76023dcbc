import type { ImportName } from './faults.ts';
import { importSourceOf } from './import-source.ts';
import type { DataVolume } from './kinds.ts';

/** What fault rules match an import by. */
export function importNameOf({ metadata, spec }: DataVolume): ImportName {
  const source = importSourceOf(spec.source);
  const url = source && source !== 'blank' ? spec.source?.[source]?.url : undefined;
  return { dataVolume: metadata.name, url: url ?? '' };
}
