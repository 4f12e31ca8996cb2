import { notRun } from '../../unsimulated.ts';

/** Recognised and checked; logins of policies are not run yet. */
export const openidConnect = notRun('openid-connect', false);
