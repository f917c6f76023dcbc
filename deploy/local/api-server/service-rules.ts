import { isDeepStrictEqual } from 'node:util';
import { fillIn } from './default-values.ts';
import type { Kind } from './kind.ts';
import { type ApiObject, fieldAt, isJsonObject, type JsonObject, objectsAt } from './objects.ts';
import { type Cause, invalid, required } from './schema-cause.ts';

const specOf = ({ spec }: ApiObject): JsonObject => (isJsonObject(spec) ? spec : {});

/** Ports, and what is the same for every Service of a cluster that knows IPv4 alone. */
function complete(service: ApiObject) {
  const spec = specOf(service);
  fillIn(spec, { type: 'ClusterIP', sessionAffinity: 'None', internalTrafficPolicy: 'Cluster' });
  if (spec.type !== 'ExternalName') fillIn(spec, { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' });
  const ports = objectsAt(spec.ports);
  for (const port of ports) fillIn(port, { protocol: 'TCP', targetPort: port.port });
}

/** An address in 10.96.0.0/12, derived from the uid. Nothing routes to it here, so a duplicate, one in a million, has no effect. */
function addressFor(uid: string): string {
  const number = (Number.parseInt(uid.slice(0, 8), 16) >>> 0) % (2 ** 20 - 512);
  const offset = number + 256;
  return `10.${96 + (offset >> 16)}.${(offset >> 8) & 255}.${offset & 255}`;
}

function allocate(service: ApiObject) {
  const spec = specOf(service);
  if (spec.type === 'ExternalName') return;
  fillIn(spec, { clusterIP: addressFor(service.metadata.uid) });
  fillIn(spec, { clusterIPs: [spec.clusterIP] });
}

/** A client that omits a value that the server chose keeps the current value. */
function keepAllocated(service: ApiObject, old: ApiObject) {
  const { clusterIP, clusterIPs } = specOf(old);
  fillIn(specOf(service), {
    ...(clusterIP !== undefined && { clusterIP }),
    ...(clusterIPs !== undefined && { clusterIPs }),
  });
}

function portCauses({ ports, clusterIP, type }: JsonObject): Cause[] {
  const list = objectsAt(ports);
  if (list.length === 0) return type === 'ExternalName' || clusterIP === 'None' ? [] : [required('spec.ports')];
  const isPort = (port: unknown) => Number(port) >= 1 && Number(port) <= 65535;
  const range = 'must be between 1 and 65535, inclusive';
  return list.flatMap(({ name, port, targetPort }, index) => [
    ...(list.length > 1 && !name ? [required(`spec.ports[${index}].name`)] : []),
    ...(isPort(port) ? [] : [invalid(`spec.ports[${index}].port`, port ?? 0, range)]),
    ...(typeof targetPort !== 'number' || isPort(targetPort)
      ? []
      : [invalid(`spec.ports[${index}].targetPort`, targetPort, range)]),
  ]);
}

export const serviceRules: Partial<Kind> = {
  prepareForCreate: (service) => {
    complete(service);
    allocate(service);
    service.status = { loadBalancer: {} };
  },
  prepareForUpdate: (service, old) => {
    complete(service);
    keepAllocated(service, old);
  },
  validate: (service, old) => {
    const before = old && fieldAt(old.spec, ['clusterIPs']);
    const now = fieldAt(service.spec, ['clusterIPs']);
    const isMoved = before !== undefined && !isDeepStrictEqual(before, now);
    return [
      ...portCauses(specOf(service)),
      ...(isMoved ? [invalid('spec.clusterIPs[0]', now, 'may not change once set')] : []),
    ];
  },
};
