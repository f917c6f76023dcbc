import { referenceIn } from '../../../shared/kinds/resource.ts';
import type { Informer } from '../controller/informer.ts';
import { Claim, DataVolume } from '../controller/kinds.ts';
import { controllerOf } from '../controller/owner.ts';
import { annotation } from './annotation.ts';
import type { ImportName } from './faults.ts';
import { importSourceOf } from './import-source.ts';

/** What fault rules match an import by. */
export function importNameOf({ metadata, spec }: DataVolume): ImportName {
  const source = importSourceOf(spec.source);
  const url = source && source !== 'blank' ? spec.source?.[source]?.url : undefined;
  return { dataVolume: metadata.name, url: url ?? '' };
}

/** The same for a claim that an import fills, directly or as prime; undefined for any other claim. */
export function importNameOfClaim(dataVolumes: Informer<DataVolume>, claim: Claim): ImportName | undefined {
  const owner = controllerOf(claim);
  const { namespace, annotations } = claim.metadata;
  // The temporary claim of a clone says by annotation whose it is.
  const target = annotations?.[annotation.eventSource];
  if (target !== undefined) {
    const clone = dataVolumes.find(referenceIn(target));
    return clone && importNameOf(clone);
  }
  if (owner?.kind === Claim.kind) return { dataVolume: owner.name, url: annotations?.[annotation.endpoint] ?? '' };
  if (owner?.kind !== DataVolume.kind) return undefined;
  const dataVolume = dataVolumes.find({ namespace, name: owner.name });
  return dataVolume && importNameOf(dataVolume);
}
