import { flavor, keyPair, parts, refusedServer } from './contract-machine.ts';
import { type Cases, code, only } from './contract-step.ts';

export const flavorCases: Cases = {
  'flavors are an administrator’s, and have a name of their own': [
    { ...flavor({ swap: 0 }), pick: only('flavor') },
    { ...flavor(), save: {}, pick: only('conflictingRequest') },
    { ...flavor({ name: 'other-{run}' }), as: 'member', save: {}, pick: only('forbidden') },
    { ...flavor({ name: 'none-{run}', vcpus: 0 }), save: {}, pick: code },
    { ...flavor({ name: 'none-{run}', ram: 'much' }), save: {}, pick: code },
    { ...flavor({ name: '' }), save: {}, pick: code },
    { ask: 'GET compute /flavors/{flavor}' },
    { ask: 'GET compute /flavors/{flavor}', version: null },
    { ask: 'GET compute /flavors/{flavor}', version: '2.55' },
    { ask: 'GET compute /flavors/{flavor}', version: '2.61' },
    {
      ask: 'GET compute /flavors/detail',
      pick: (body: { flavors: { name: string }[] }) =>
        body.flavors.filter(({ name }) => /^flavor-[0-9a-f]{8}$/.test(name)).length > 0,
    },
    { ask: 'DELETE compute /flavors/{flavor}' },
    { ask: 'DELETE compute /flavors/{flavor}', as: 'admin' },
    { ask: 'DELETE compute /flavors/{flavor}', as: 'admin' },
    { ask: 'GET compute /flavors/{flavor}' },
  ],
  'a private flavor is not there for others': [
    ...parts.slice(0, -1),
    { ...flavor({ 'os-flavor-access:is_public': false }), pick: only('flavor.os-flavor-access:is_public') },
    { ask: 'GET compute /flavors/{flavor}' },
    refusedServer({}),
  ],
  'a key pair is a user’s, under one name': [
    keyPair('kup-{run}'),
    keyPair('kup-{run}'),
    keyPair('old-{run}', { version: null }, { type: undefined }),
    keyPair('with.dot', { pick: code }),
    keyPair('with/slash', { pick: code }),
    keyPair('bad-{run}', { pick: code }, { public_key: 'ssh-rsa nonsense' }),
    keyPair('new-{run}', { version: '2.92', pick: code }, { public_key: undefined }),
    { ask: 'GET compute /os-keypairs' },
    {
      ask: 'GET compute /os-keypairs/kup-{run}',
      pick: only('keypair.name', 'keypair.public_key', 'keypair.fingerprint', 'keypair.type', 'keypair.deleted'),
    },
    { ask: 'GET compute /os-keypairs/kup-{run}', as: 'owner' },
    { ask: 'DELETE compute /os-keypairs/kup-{run}' },
    { ask: 'DELETE compute /os-keypairs/kup-{run}' },
    { ask: 'GET compute /os-keypairs/kup-{run}' },
  ],
};
