import { ofDeployments, runOnReal } from './run-on-real.ts';

runOnReal('deployments', ofDeployments);
