import { counted, quoted } from '../../diagnostics/message_text.ts';
import type { Report, Sound } from '../../diagnostics/report.ts';
import type { JwtValidationConfig } from './action_schema.ts';
import { KEY_SOURCE_LIMIT } from './algorithm.ts';

/** Limits the sources of keys, and warns about tokens whose scheme would be read as part of them. */
export function checkAction(
  { http, jws }: Sound<JwtValidationConfig>,
  report: Report<string | number>,
): void {
  const sources = (jws?.keys ?? []).flatMap((key) => key?.sources ?? []);
  const urls = sources.reduce((count, source) => count + (source?.additional_jkus?.length ?? 0), 0);
  if (urls > KEY_SOURCE_LIMIT) {
    const hint = `at most ${KEY_SOURCE_LIMIT} are allowed`;
    report(2218, '/jws/keys', `the keys have ${counted(urls, 'source')} in all`, { at: 'key', hint });
  }
  for (const [index, token] of (http?.tokens ?? []).entries()) {
    const name = token?.name;
    if (token?.method !== 'header' || name === undefined) continue;
    if (name.toLowerCase() !== 'authorization' || token.prefix !== '') continue;
    const message = `${quoted(name)} has a scheme before the token: without a prefix it is read as part of the token`;
    report('policy.no_prefix', `/http/tokens/${index}/name`, message, { hint: "add prefix: 'Bearer '" });
  }
}
