import { fillIn } from './default-values.ts';
import type { Kind } from './kind.ts';
import { type ApiObject, isJsonObject, objectsAt } from './objects.ts';

/** A policy that doesn't say what it is about is about what comes in, and about what goes out where it has rules for that. */
function complete({ spec }: ApiObject) {
  if (!isJsonObject(spec)) return;
  const leaves = Array.isArray(spec.egress) && spec.egress.length > 0;
  fillIn(spec, { podSelector: {}, policyTypes: leaves ? ['Ingress', 'Egress'] : ['Ingress'] });
  for (const rule of ['ingress', 'egress'].flatMap((way) => spec[way] ?? [])) {
    const ports = objectsAt(rule, 'ports');
    for (const port of ports) fillIn(port, { protocol: 'TCP' });
  }
}

export const networkPolicyRules: Partial<Kind> = { prepareForCreate: complete, prepareForUpdate: complete };
