import type { Kube } from '../../../../shared/runtime/kube.ts';
import type { FunctionsUnderTest } from './functions-under-test.ts';

/** A cluster with Knative's eventing, the real one or the local, and namespaces in it that are the contract's own. */
export interface World {
  kube: Kube;
  namespace: string;
  /** A second one, where no source and no Broker is. */
  otherNamespace: string;
  /** Base of the Broker ingress. */
  ingress: string;
  functions: FunctionsUnderTest;
  close(): Promise<void>;
}

/** The Service by which the functions under test are found by reference; their names are its paths. */
export const functionsService = 'functions';

/** An event that is part of no case. */
export const probe = { 'ce-specversion': '1.0', 'ce-id': 'probe', 'ce-source': '/contract', 'ce-type': 'probe' };
export const isProbe = (headers: Readonly<Record<string, string>>) => headers['ce-type'] === probe['ce-type'];

/** Posts to a Broker of the contract's namespace and reads the answer. */
export async function postTo({ ingress, namespace }: World, broker: string, init: RequestInit): Promise<Response> {
  const response = await fetch(`${ingress}/${namespace}/${broker}`, { method: 'POST', ...init });
  await response.arrayBuffer();
  return response;
}

/** The value with `{name}` in all its texts replaced; what has no replacement stays. */
export function filled<T>(value: T, replacements: Readonly<Record<string, string>>): T {
  const quoted = (text: string) => JSON.stringify(text).slice(1, -1);
  const text = JSON.stringify(value).replaceAll(/\{([a-z ]+)\}/g, (whole, name: string) => {
    const found = replacements[name];
    return found === undefined ? whole : quoted(found);
  });
  return JSON.parse(text) as T;
}
