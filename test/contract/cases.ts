import type { Case } from './case.ts';
import { applyCases } from './cases-apply.ts';
import { deleteCases } from './cases-delete.ts';
import { readCases } from './cases-read.ts';
import { watchCases } from './cases-watch.ts';
import { writeCases } from './cases-write.ts';

/** What the project relies on from the API server, asked of the local cluster and of real ones alike. */
export const cases: Case[] = [...writeCases, ...applyCases, ...deleteCases, ...readCases, ...watchCases];
