import { notRun } from '../../unsimulated.ts';

/** Recognised and checked, not simulated. */
export const owaspCrsRequest = notRun('owasp-crs-request', true);
