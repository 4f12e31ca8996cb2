import { readDocument } from '../../config_file/read.ts';
import { hasErrors } from '../../diagnostics/diagnostic.ts';
import { EDGE_FILE } from '../../edge/document/edge_file.ts';
import { LEGACY_PHASES } from '../../filters/phase.ts';
import { asciiLower } from '../../http/ascii.ts';
import type { BindKind } from './bind_request.ts';
import { type Members, type Refusal, isRefusal } from './members.ts';

type Value = Record<string, unknown>;

/** The number of refusals without one of their own. */
export const BAD_OPTIONS = 300;

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
export function attachedPolicy(kind: BindKind, opts: Members, service: string): Value | Refusal {
  const text = policyText(kind, opts);
  if (typeof text !== 'string') return text;
  const basic = basicAuthRules(opts);
  const login = loginRules(opts, service);
  if (isRefusal(basic)) return basic;
  if (isRefusal(login)) return login;
  const first = [...basic, ...login];
  if (first.length === 0) return text === '' ? {} : { traffic_policy: { value: text } };
  const own = objectIn('traffic policy', text === '' ? '{}' : text);
  // Older documents disable a policy, but not the other options of its endpoint.
  if (own?.['enabled'] === false) return policyOf({ on_http_request: first });
  const phase = Object.keys(own ?? {}).find(isForRequests) ?? 'on_http_request';
  const rules = own?.[phase] ?? [];
  // Text that is not a policy is refused with its original spelling.
  if (own === null || !Array.isArray(rules)) return { traffic_policy: { value: text } };
  return policyOf({ ...own, [phase]: [...first, ...(rules as unknown[])] });
}

function policyOf(document: Value): Value {
  return { traffic_policy: { value: JSON.stringify(document) } };
}

function isForRequests(phase: string): boolean {
  return (LEGACY_PHASES[phase] ?? phase) === 'on_http_request';
}

/** The text of the policy; older agents in Go send its rules instead. */
function policyText(kind: BindKind, opts: Members): string | Refusal {
  const text = opts.text('TrafficPolicy');
  const policy = opts.object('Policy');
  if (policy === null) return text;
  if (text !== '') return badOptions('An endpoint has one traffic policy.');
  const rules = (direction: string) => policy.list(direction).map(ruleOf);
  const [inbound, outbound] = [rules('inbound'), rules('outbound')];
  const isBroken = [...inbound, ...outbound].some(({ actions }) =>
    actions.some(({ config }) => config === null),
  );
  if (isBroken) return badOptions('The settings of an action of the policy are not a JSON object.');
  const first = kind === 'https' ? 'on_http_request' : 'on_tcp_connect';
  const phases = { [first]: inbound, ...(outbound.length > 0 && { on_http_response: outbound }) };
  return inbound.length + outbound.length === 0 ? '' : JSON.stringify(phases);
}

function ruleOf(rule: Members) {
  const actions = rule.list('actions').map((each) => {
    const config = each.text('config');
    return { type: each.text('type'), config: config === '' ? {} : jsonObject(config) };
  });
  const name = rule.text('name');
  return { ...(name !== '' && { name }), expressions: rule.texts('expressions'), actions };
}

/** The object in base64; null if it is not one. */
function jsonObject(base64: string): object | null {
  return objectIn('action of a traffic policy', Buffer.from(base64, 'base64').toString('utf8'));
}

function objectIn(name: string, text: string): Value | null {
  const { document, diagnostics } = readDocument({ name, text }, EDGE_FILE);
  // Such as a key that occurs twice, of which one would be lost.
  const value = hasErrors(diagnostics) ? null : document?.value;
  return typeof value === 'object' && value !== null ? (value as Value) : null;
}

function badOptions(message: string): Refusal {
  return { number: BAD_OPTIONS, message };
}

function basicAuthRules(opts: Members): Value[] | Refusal {
  const given = opts.object('BasicAuth');
  const credentials = given?.list('credentials') ?? [];
  if (given !== null && credentials.length === 0) return badOptions('Basic auth has no credentials.');
  if (credentials.some((each) => each.text('hashed_password') !== '')) return sealed('basic auth password');
  const pairs = credentials.map((each) => `${each.text('username')}:${each.text('cleartext_password')}`);
  // Older agents send one pair as a text.
  const older = opts.text('Auth');
  if (older !== '') pairs.push(older);
  if (pairs.length === 0) return [];
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
  return badOptions(`${what} must not contain '\${'.`);
}
