import { chart, declareLives } from './declare-release.ts';

declareLives([chart]);
