import { notRun } from '../../unsimulated.ts';

/** Recognised and checked, not simulated. */
export const sseFindReplace = notRun('sse-find-replace', true);
