import { ensureTool } from '../ensure-tool.ts';

/** The path of a Helm 4, which is built from its Go module first if it is missing; or why it cannot be had. */
export const findHelm = () => ensureTool(new URL('install', import.meta.url), 420_000);
