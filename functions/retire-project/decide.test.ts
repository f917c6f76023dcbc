import { describe, expect, test } from 'vitest';
import { deleteProject } from '../../shared/kinds/openstack/project.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { aCredentialsSecret, aProject, refusing, requestsIn, saying } from '../../test/support/builders/openstack.ts';
import { decide, type Observed, retiredAmong } from './decide.ts';

const account = aCredentialsSecret('password: hunter2', { namespace: operatorNamespace });
const empty = (uid: string, more = {}) => ({ ...aProject(uid, more), isEmpty: true });
const full = (uid: string) => ({ ...empty(uid), isEmpty: false });
const reconcile = (projects: Observed['retired'], uids: string[] = [], refusals: Observed['refusals'] = new Map()) => {
  const namespaces = uids.map((uid) => ({ metadata: { uid } }));
  return decide({ refusals, account, retired: retiredAmong(projects, namespaces) });
};

describe('a project', () => {
  test.each<[string, Observed['retired'], string[], string[]]>([
    ['is deleted with its namespace', [empty('a')], [], ['deleteProject id-a']],
    ['stays while its namespace exists', [empty('a')], ['a'], []],
    ['stays while anything is in it', [full('a')], [], []],
    ['is deleted although a new namespace has its name', [empty('a', { name: 'lab' })], ['b'], ['deleteProject id-a']],
    ['is deleted beside another that stays', [empty('a'), empty('b'), full('c')], ['b'], ['deleteProject id-a']],
    ['is deleted with others', [empty('a'), empty('b')], [], ['deleteProject id-a', 'deleteProject id-b']],
    ['stays that is one of two of its namespace', [empty('a'), empty('a', { id: 'id-second' })], ['a'], []],
  ])('%s', (_, projects, uids, done) => {
    expect(saying(reconcile(projects, uids))).toEqual(done);
  });
  test('is deleted by its id, through the account of all', () => {
    const found = reconcile([empty('a')]);
    expect(requestsIn(found)).toEqual([deleteProject('id-a')]);
    expect(found).toMatchObject([{ of: { kind: 'Secret', metadata: { namespace: operatorNamespace } } }]);
  });
  test('that OpenStack does not delete is not asked for again, and holds up no other', () => {
    const refusals = refusing(account, [deleteProject('id-a'), 'Forbidden: by policy']);
    expect(saying(reconcile([empty('a'), empty('b')], [], refusals))).toEqual(['deleteProject id-b']);
  });
  test('is deleted by an action without the account in it', () => {
    expect(JSON.stringify(reconcile([empty('a')]))).not.toContain(account.data?.['clouds.yaml']);
  });
});
