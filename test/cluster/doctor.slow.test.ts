import { misconfigurations } from '../../deploy/cli/doctor/misconfigurations.ts';
import { declareDoctor } from './declare-doctor.ts';

declareDoctor(misconfigurations);
