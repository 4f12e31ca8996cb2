import { notRun } from '../unsimulated.ts';

/** Recognised and checked, but not simulated. */
export const owaspCrsResponse = notRun('owasp-crs-response', true);
