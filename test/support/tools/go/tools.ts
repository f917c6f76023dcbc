import { ensureTool } from '../ensure-tool.ts';

const find = (name: string) => ensureTool(new URL('install', import.meta.url), 420_000, name);

/** The path of a Helm 4, which is built from its Go module first if it is missing; or why it cannot be had. */
export const findHelm = () => find('helm');

/** The same of krew, kubectl's manager of plugins. */
export const findKrew = () => find('krew');
