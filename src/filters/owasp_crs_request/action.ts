import { notRun } from '../unsimulated.ts';

/** Recognised and checked, but not simulated. */
export const owaspCrsRequest = notRun('owasp-crs-request', true);
