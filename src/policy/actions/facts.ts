import type { Phase } from '../phase.ts';
import type { ActionType } from './schemas.ts';

/** What is known of an action type beyond the fields of its config. */
export interface ActionFacts {
  readonly type: ActionType;
  readonly phases: readonly Phase[];
  /**
   * Whether the action ends its phase: `always`; `may` when a check of it fails, a login is needed, or (redirect)
   * the URL changes; `never`.
   */
  readonly ends: 'always' | 'may' | 'never';
  /** Where its results stand below `actions.<service>`; null when it has none. */
  readonly result: string | null;
  /** Whether it logs users in; an endpoint may have one such action (code 2239). */
  readonly login: boolean;
  /** `later`: not run yet; `never`: stops the request with a 501 unless it is told to let it pass. */
  readonly runs: 'now' | 'later' | 'never';
  /** Older spellings of the type. */
  readonly legacyTypes: readonly string[];
}

const T = 'on_tcp_connect';
const Q = 'on_http_request';
const S = 'on_http_response';
const E = 'on_event_stream_message';

function row(
  type: ActionType,
  phases: readonly Phase[],
  ends: ActionFacts['ends'],
  result: string | null,
  more: Partial<Pick<ActionFacts, 'login' | 'runs' | 'legacyTypes'>> = {},
): ActionFacts {
  return { type, phases, ends, result, login: false, runs: 'now', legacyTypes: [], ...more };
}

const ROWS: readonly ActionFacts[] = [
  row('add-headers', [Q, S], 'never', 'add_headers'),
  row('ai-gateway', [Q], 'may', 'ai_gateway', { runs: 'never' }),
  row('basic-auth', [Q], 'may', 'basic_auth'),
  row('circuit-breaker', [Q], 'may', null),
  row('close-connection', [T, Q], 'always', null),
  row('compress-response', [S], 'never', 'compress', { legacyTypes: ['compress'] }),
  row('custom-response', [Q, S], 'always', null),
  row('deny', [T, Q], 'always', null),
  row('forward-internal', [T, Q], 'always', null),
  row('http-request', [Q, S], 'may', 'http_request'),
  row('jwt-validation', [Q], 'may', 'jwt_validation'),
  row('log', [T, Q, S], 'never', 'log'),
  row('oauth', [Q], 'may', 'oauth', { login: true }),
  row('openid-connect', [Q], 'may', 'oidc', { login: true, legacyTypes: ['oidc'] }),
  row('owasp-crs-request', [Q], 'may', 'owasp_crs_request', { runs: 'never' }),
  row('owasp-crs-response', [S], 'may', 'owasp_crs_response', { runs: 'never' }),
  row('rate-limit', [Q], 'may', 'rate_limit'),
  row('redirect', [Q], 'may', 'redirect'),
  row('remove-headers', [Q, S], 'never', 'remove_headers'),
  row('request-body-find-replace', [Q], 'never', 'request_body_find_replace'),
  row('response-body-find-replace', [S], 'never', 'response_body_find_replace'),
  row('restrict-ips', [T, Q, S], 'may', 'restrict_ips'),
  row('saml', [Q], 'may', 'saml', { login: true }),
  row('set-vars', [T, Q, S], 'never', null),
  row('sse-find-replace', [E], 'never', 'sse_find_replace'),
  row('terminate-tls', [T], 'may', 'terminate_tls'),
  row('url-rewrite', [Q], 'never', 'url_rewrite'),
  row('verify-webhook', [Q], 'may', 'verify_webhook'),
];

/** Facts of every action type, by type. */
export const ACTION_FACTS: ReadonlyMap<string, ActionFacts> = new Map(
  ROWS.map((facts) => [facts.type, facts]),
);

/** What an older spelling of an action type is called now. */
export const LEGACY_TYPES: ReadonlyMap<string, ActionType> = new Map(
  ROWS.flatMap(({ type, legacyTypes }) => legacyTypes.map((legacy) => [legacy, type] as const)),
);
