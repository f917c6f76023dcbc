import { expect, test } from 'vitest';
import { type Audit, countsOf, laxlyWritten, readAudit, refusedIn, writesByAccount } from './audit.ts';

/** The API server's audit log of the stories, which have run before. */
const logFile = process.env.OT_AUDIT_LOG;
if (!logFile) console.warn('skipped: what the audit log says of permissions needs OT_AUDIT_LOG, which is not set');

const isLogged = test.skipIf(!logFile);
const audit = (): Promise<Audit> => readAudit(logFile ?? '');

isLogged('no request of a ServiceAccount of the operator was refused', async () => {
  const found = await audit();
  for (const [what, count] of countsOf(found)) console.log(`${String(count).padStart(7)} ${what}`);
  console.log('writes:', Object.fromEntries(writesByAccount(found.requests)));
  const refused = refusedIn(found);
  expect(refused.map(({ account, verb, resource, refusal }) => `${account} ${verb} ${resource}: ${refusal}`)).toEqual(
    [],
  );
});

isLogged('every object that the functions wrote was held against the real definitions of its kind', async () => {
  expect(laxlyWritten(await audit())).toEqual([]);
});
