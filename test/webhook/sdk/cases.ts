import { BODY_CASES } from './body_cases.ts';
import type { SdkCase } from './case.ts';
import { TIMED_CASES } from './timed_cases.ts';
import { URL_CASES } from './url_cases.ts';

export const SDK_CASES: readonly SdkCase[] = [...BODY_CASES, ...TIMED_CASES, ...URL_CASES];
