import { auditArguments } from './audit.ts';
import { restartApiServer } from './control-plane.ts';

/** Makes the harness' API server write down what the operator's ServiceAccounts ask of it, into OT_AUDIT_LOG. */
const logFile = process.env.OT_AUDIT_LOG;
if (!logFile) throw new Error('expected OT_AUDIT_LOG to name the file of the audit log, found none');
await restartApiServer({ extraArguments: await auditArguments(`${logFile}.policy.yaml`, logFile) });
console.log(`the API server writes its audit log to ${logFile}`);
