import { declareLives, otherWays } from './declare-release.ts';

declareLives(otherWays);
