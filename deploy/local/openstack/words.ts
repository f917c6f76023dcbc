/** The key that Nova and Cinder put a refusal under, by its status (nova/api/openstack/wsgi.py, Fault). */
export const wordOf = (status: number) => words[status] ?? 'computeFault';

const words: Record<number, string> = {
  400: 'badRequest',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'itemNotFound',
  405: 'badMethod',
  409: 'conflictingRequest',
  413: 'overLimit',
  415: 'badMediaType',
  429: 'overLimit',
  501: 'notImplemented',
  503: 'serviceUnavailable',
};
