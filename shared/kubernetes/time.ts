/** Kubernetes' Time: whole seconds. */
export const toTime = (ms: number) => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

/** Kubernetes' MicroTime: `micros` are added below the millisecond. */
export const toMicroTime = (ms: number, micros = 0) =>
  new Date(ms).toISOString().replace('Z', `${String(micros).padStart(3, '0')}Z`);
