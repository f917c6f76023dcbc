import { KubeConfig } from '@kubernetes/client-node';
import { expect, test } from 'vitest';
import { Secret } from '../kinds/core/secret.ts';
import { kubeClient } from './kube.ts';

/** No one listens there: a client gets an error. */
const nowhere = () => {
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    { name: 'nowhere', server: 'http://127.0.0.1:1', skipTLSVerify: false },
    { name: 'nobody' },
  );
  return kubeClient(config);
};

test.each(['lab/login', '50%', '.', '..', '', '\ud800'])(
  'nothing has the name %j, and no server is asked',
  async (name) => {
    expect(await nowhere().get(Secret, { namespace: 'lab', name })).toBeUndefined();
    expect(await nowhere().get(Secret, { namespace: name, name: 'login' })).toBeUndefined();
  },
);

test('what may be a name is asked for', async () => {
  await expect(nowhere().get(Secret, { namespace: 'lab', name: 'login' })).rejects.toThrow();
});
