import { type Browser, chromium } from 'playwright-core';
import { ensureTool } from '../support/tools/ensure-tool.ts';

/** The path of a Chromium, which is installed first if possible; or why it is missing. */
export const findChromium = () => ensureTool(new URL('install', import.meta.url), 300_000);

/** Starts it without a window; nothing of it goes anywhere but to the pages that are opened. */
export const openChromium = (executablePath: string): Promise<Browser> =>
  chromium.launch({
    executablePath,
    args: [
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  });
