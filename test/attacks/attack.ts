import { defineResource } from '../../shared/kinds/resource.ts';
import type { Kube } from '../../shared/runtime/kube.ts';

export interface Account {
  namespace: string;
  name: string;
}

/** A cluster with our definitions, the roles of users and the rights of all functions, on which no function runs. */
export interface Target {
  /** A client of the administrator, for preparing and for looking. */
  kube: Kube;
  /** A client of that ServiceAccount. */
  as(account: Account): Promise<Kube>;
}

/**
 * What is refused by RBAC, by admission or by a schema, whatever the functions do: written once, for every kind of cluster
 * (`declare-attacks.ts`).
 */
export interface Attack {
  /** What an attacker tries. */
  name: string;
  /** What it would gain. */
  gains: string;
  /** Why the local cluster cannot show it. */
  realOnly?: string;
  run(target: Target): Promise<void>;
}

/** By RBAC. */
export const forbidden = { status: 403 };
/** By a schema, or an admission policy. */
export const invalid = { status: 422 };

/** Asks for a token of a ServiceAccount, as kubelet does for Pods. */
export const tokenOf =
  ({ namespace, name }: Account) =>
  (kube: Kube): Promise<unknown> =>
    kube.create(
      defineResource(
        { apiVersion: 'v1', kind: 'TokenRequest', plural: `serviceaccounts/${name}/token`, namespaced: true },
        {},
      ),
      { apiVersion: 'authentication.k8s.io/v1', metadata: { name: '', namespace }, spec: {} },
    );
