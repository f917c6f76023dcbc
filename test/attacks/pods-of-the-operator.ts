import { expect } from 'vitest';
import { Pod } from '../../shared/kinds/core/pod.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { type Attack, forbidden } from './attack.ts';

const container = { name: 'x', image: 'example.org/x:1' };
const securityContext = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
};
const restricted = { ...container, securityContext };

const realOnly = 'the local API server has no PodSecurity admission';

const refused: readonly [string, object][] = [
  ['as root', { containers: [container] }],
  ['privileged', { containers: [{ ...container, securityContext: { privileged: true } }] }],
  ['in the network of its node', { hostNetwork: true, containers: [restricted] }],
  ['with files of its node', { containers: [restricted], volumes: [{ name: 'x', hostPath: { path: '/' } }] }],
  [
    'with a capability',
    { containers: [{ ...container, securityContext: { ...securityContext, capabilities: { add: ['NET_ADMIN'] } } }] },
  ],
];

/** An account that may create Pods there. */
export const attacks: readonly Attack[] = [
  ...refused.map(
    ([how, spec], index): Attack => ({
      name: `a Pod ${how} runs in the namespace of the functions`,
      gains: 'the node, and with it the cluster',
      realOnly,
      run: async ({ kube }) => {
        const metadata = { name: `not-restricted-${index}`, namespace: operatorNamespace };
        await expect(kube.create(Pod, { metadata, spec })).rejects.toMatchObject({
          ...forbidden,
          message: expect.stringContaining('violates PodSecurity'),
        });
      },
    }),
  ),
  {
    name: 'a Pod that is restricted is not refused there',
    gains: 'nothing: it shows why the others are',
    realOnly,
    run: async ({ kube }) => {
      const metadata = { name: 'restricted', namespace: operatorNamespace };
      await kube.create(Pod, { metadata, spec: { containers: [restricted] } });
      await kube.delete(Pod, metadata, {}, 0);
    },
  },
];
