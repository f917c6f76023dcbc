import { broken } from '../../deploy/cli/doctor/broken.ts';
import { declareDoctor } from './declare-doctor.ts';

declareDoctor(broken);
