/**
 * The plural an ApiServerSource makes of a kind (Kubernetes' UnsafeGuessKindToResource). It never asks the API server:
 * a kind whose real plural differs is never watched.
 */
export function guessedPlural(kind: string): string {
  const singular = kind.toLowerCase();
  if (singular.endsWith('endpoints')) return singular;
  if (singular.endsWith('s')) return `${singular}es`;
  return singular.endsWith('y') ? `${singular.slice(0, -1)}ies` : `${singular}s`;
}
