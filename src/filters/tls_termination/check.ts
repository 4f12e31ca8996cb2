import type { Report, Sound } from '../../diagnostics/report.ts';
import { needsBoth } from '../field_checks.ts';
import type { TerminateTlsConfig } from './action_schema.ts';

/** Checks that a key has its certificate, and that at least one TLS version is allowed. */
export function checkAction(config: Sound<TerminateTlsConfig>, report: Report<number>): void {
  needsBoth(config, report, 'server_private_key', 'server_certificate');
  const { min_version: least, max_version: most } = config;
  if (least === undefined || most === undefined || least <= most) return;
  const message = `'min_version' ${least} is newer than 'max_version' ${most}`;
  report(2204, '/min_version', message, { hint: 'no version is allowed' });
}
