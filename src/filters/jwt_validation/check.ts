import { counted, quoted } from '../../diagnostics/message_text.ts';
import type { Report, Sound } from '../../diagnostics/report.ts';
import { plainHttp } from '../field_checks.ts';
import type { JwtValidationConfig } from './action_schema.ts';
import { KEY_SOURCE_LIMIT } from './algorithm.ts';

/**
 * Limits the sources of keys, and warns about keys that can be changed on their way, and about tokens whose scheme would be
 * read as part of them.
 */
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
  warnOfPlainHttp(jws, report);
  for (const [index, token] of (http?.tokens ?? []).entries()) {
    const name = token?.name;
    if (token?.method !== 'header' || name === undefined) continue;
    if (name.toLowerCase() !== 'authorization' || token.prefix !== '') continue;
    const message = `${quoted(name)} has a scheme before the token: without a prefix it is read as part of the token`;
    report('policy.no_prefix', `/http/tokens/${index}/name`, message, { hint: "add prefix: 'Bearer '" });
  }
}

const REPLACEABLE = 'an attacker in the network can replace the keys, and then sign any token';

function warnOfPlainHttp(jws: Sound<JwtValidationConfig['jws']> | undefined, report: Report<string>): void {
  for (const [at, key] of (jws?.keys ?? []).entries()) {
    for (const [within, source] of (key?.sources ?? []).entries()) {
      for (const [index, url] of (source?.additional_jkus ?? []).entries()) {
        const found = url === undefined ? null : plainHttp(url, REPLACEABLE);
        const pointer = `/jws/keys/${at}/sources/${within}/additional_jkus/${index}`;
        if (found !== null) report('policy.plain_http', pointer, ...found);
      }
    }
  }
}
