import type { JsonObject } from './objects.ts';

/** A role that every cluster has without anybody making it, and to whom it is bound. */
interface BootstrapRole {
  name: string;
  group: string;
  rules: JsonObject[];
}

const health = ['/healthz', '/livez', '/readyz', '/version', '/version/'];

/** What everyone who is known may do: ask what there is and what they may (kube-apiserver's own bootstrap policy). */
export const bootstrapRoles: BootstrapRole[] = [
  {
    name: 'system:basic-user',
    group: 'system:authenticated',
    rules: [
      { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
      {
        verbs: ['create'],
        apiGroups: ['authorization.k8s.io'],
        resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
      },
    ],
  },
  {
    name: 'system:discovery',
    group: 'system:authenticated',
    rules: [
      {
        verbs: ['get'],
        nonResourceURLs: [
          ...['/api', '/api/*', '/apis', '/apis/*', '/healthz', '/livez', '/openapi', '/openapi/*', '/readyz'],
          ...['/version', '/version/'],
        ],
      },
    ],
  },
  {
    name: 'system:public-info-viewer',
    group: 'system:authenticated',
    rules: [{ verbs: ['get'], nonResourceURLs: health }],
  },
  {
    name: 'system:service-account-issuer-discovery',
    group: 'system:serviceaccounts',
    rules: [
      {
        verbs: ['get'],
        nonResourceURLs: [
          ...['/.well-known/openid-configuration', '/.well-known/openid-configuration/'],
          ...['/openid/v1/jwks', '/openid/v1/jwks/'],
        ],
      },
    ],
  },
];
