import { notRun } from '../../unsimulated.ts';

/** Recognised and checked; logins of policies are not run yet. */
export const saml = notRun('saml', false);
