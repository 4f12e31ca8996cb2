import { notRun } from '../../unsimulated.ts';

/** Recognised and checked, not simulated. */
export const owaspCrsResponse = notRun('owasp-crs-response', true);
