import { quoted } from '../../diagnostics/message_text.ts';
import type { Report, Sound } from '../../diagnostics/report.ts';
import type { JwtValidationConfig } from './action_schema.ts';

/** Warns about tokens whose scheme would be read as part of them. */
export function checkAction({ http }: Sound<JwtValidationConfig>, report: Report<string>): void {
  for (const [index, token] of (http?.tokens ?? []).entries()) {
    const name = token?.name;
    if (token?.method !== 'header' || name === undefined) continue;
    if (name.toLowerCase() !== 'authorization' || token.prefix !== '') continue;
    const message = `${quoted(name)} has a scheme before the token: without a prefix it is read as part of the token`;
    report('policy.no_prefix', `/http/tokens/${index}/name`, message, { hint: "add prefix: 'Bearer '" });
  }
}
