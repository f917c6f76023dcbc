import { misconfigurations } from '../../deploy/cli/doctor/misconfigurations.ts';
import { declareDoctor } from './declare-doctor.ts';

// A part in each CI run, all in doctor.slow.test.ts, and on the local cluster all in each.
declareDoctor(misconfigurations.filter((_, index) => index % 6 === 0));
