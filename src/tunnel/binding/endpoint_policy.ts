import { readDocument } from '../../config_file/read.ts';
import { EDGE_FILE } from '../../edge/document/edge_file.ts';
import { asciiLower } from '../../http/ascii.ts';
import { type Members, type Refusal, isRefusal } from './members.ts';

type Value = Record<string, unknown>;

/** The number of refusals without one of their own. */
const BAD_OPTIONS = 300;

/** Refuses what only the service can read: an endpoint without it would be open. */
export function sealed(what: string): Refusal {
  return {
    number: BAD_OPTIONS,
    message: `A sealed or hashed ${what} cannot be read here; send it as plain text.`,
  };
}

/** Whether a login at an OpenID provider is only for some e-mail addresses or domains. */
export function hasAllowList(oidc: Members): boolean {
  return oidc.texts('allow_emails').length + oidc.texts('allow_domains').length > 0;
}

/** The policy of an agent. Options that are actions of policies come before its own rules. */
export function attachedPolicy(opts: Members, service: string): Value | Refusal {
  const text = opts.text('TrafficPolicy');
  const basic = basicAuthRules(opts);
  const login = loginRules(opts, service);
  if (isRefusal(basic)) return basic;
  if (isRefusal(login)) return login;
  const first = [...basic, ...login];
  if (first.length === 0) return text === '' ? {} : { traffic_policy: { value: text } };
  const { document } = readDocument({ name: 'traffic policy', text: text === '' ? '{}' : text }, EDGE_FILE);
  // What is not a policy is refused as the agent wrote it.
  if (typeof document?.value !== 'object' || document.value === null)
    return { traffic_policy: { value: text } };
  const own = document.value as Value;
  const rules = Array.isArray(own['on_http_request']) ? (own['on_http_request'] as unknown[]) : [];
  return { traffic_policy: { value: JSON.stringify({ ...own, on_http_request: [...first, ...rules] }) } };
}

function basicAuthRules(opts: Members): Value[] | Refusal {
  const credentials = opts.object('BasicAuth')?.list('credentials') ?? [];
  if (credentials.length === 0) return [];
  if (credentials.some((each) => each.text('hashed_password') !== '')) return sealed('basic auth password');
  const pairs = credentials.map((each) => `${each.text('username')}:${each.text('cleartext_password')}`);
  const refusal = withoutTemplates('Basic auth credentials', pairs);
  return refusal ?? [{ actions: [{ type: 'basic-auth', config: { credentials: pairs } }] }];
}

/** A login, and a rule that denies all whose verified address, which is in lower case, is not in a list. */
function loginRules(opts: Members, service: string): Value[] | Refusal {
  const given = opts.object('OIDC');
  if (given === null || !hasAllowList(given)) return [];
  if (given.text('sealed_client_secret') !== '') return sealed('OpenID client secret');
  const [issuer = '', id = '', secret = ''] = ['issuer_url', 'client_id', 'client_secret'].map((name) =>
    given.text(name),
  );
  const refusal = withoutTemplates('OpenID options', [issuer, id, secret]);
  if (refusal !== null) return refusal;
  const config = { issuer_url: issuer, client_id: id, client_secret: secret, scopes: given.texts('scopes') };
  const email = `actions.${service}.oidc.identity.email`;
  const emails = JSON.stringify(given.texts('allow_emails').filter(Boolean).map(asciiLower));
  const isOfDomain = given
    .texts('allow_domains')
    .filter(Boolean)
    .map((domain) => ` || ${email}.endsWith(${JSON.stringify(`@${asciiLower(domain)}`)})`);
  return [
    { actions: [{ type: 'openid-connect', config }] },
    {
      expressions: [`!(${email} in ${emails}${isOfDomain.join('')})`],
      actions: [{ type: 'deny', config: { status_code: 403 } }],
    },
  ];
}

/** Texts of actions are templates, those of agents are not. */
function withoutTemplates(what: string, texts: readonly string[]): Refusal | null {
  if (!texts.some((text) => text.includes('${'))) return null;
  return { number: BAD_OPTIONS, message: `${what} must not contain '\${'.` };
}
