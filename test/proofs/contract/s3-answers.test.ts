import { describe } from 'vitest';
import { startObjectStore } from '../../../deploy/local/object-store/object-store.ts';
import { declareS3Answers } from './s3-answers.ts';

describe('our own object store answers', () => declareS3Answers(startObjectStore));
