import { broken } from '../../deploy/cli/doctor/broken.ts';
import { declareDoctor } from './declare-doctor.ts';

// A part in each CI run, all in doctor.slow.test.ts, and on the local cluster all in each.
declareDoctor(broken.filter((_, index) => index % 6 === 0));
