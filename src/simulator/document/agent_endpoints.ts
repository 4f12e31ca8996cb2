import { Buffer } from 'node:buffer';
import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { listed, quoted } from '../../diagnostics/message_text.ts';
import type { Report } from '../../diagnostics/report.ts';
import { readBind } from '../../tunnel/binding/bind_request.ts';
import { ALREADY_ONLINE, type PlacedBind } from '../../tunnel/binding/endpoint_table.ts';
import { Members, type Refusal, isRefusal } from '../../tunnel/binding/members.ts';
import type { EndpointOptions } from './agent_schema.ts';
import type { ScenarioCode } from './codes.ts';

/** An option of an endpoint, and where the protocol of agents has it. */
interface Option {
  readonly module: string;
  /** Member of the module; absent for one that is there or not. */
  readonly member?: string;
  /** Part of the pointers of findings about it. */
  readonly place: string;
  /** Schemes that have it; default those of HTTP. */
  readonly schemes?: readonly string[];
  readonly convert?: (value: never) => unknown;
}

const HTTP = ['http', 'https'];
const ALL = [...HTTP, 'tls', 'tcp'];
const IP = { module: 'IPRestriction', place: 'ip_policies', schemes: ALL };
const REQUEST = { module: 'RequestHeaders', place: 'request_headers' };
const RESPONSE = { module: 'ResponseHeaders', place: 'response_headers' };
const AGENTS = { module: 'UserAgentFilter', place: 'user_agent_filter' };
const WEBHOOK = { module: 'WebhookVerification', place: 'webhook_verification' };
const OAUTH = { module: 'OAuth', place: 'oauth' };
const OIDC = { module: 'OIDC', place: 'oidc' };
const TLS = { module: 'TLSTermination', place: 'tls_certificates', schemes: ['tls'], convert: base64 };

const OPTIONS: Readonly<Record<Exclude<keyof EndpointOptions, Elsewhere>, Option>> = {
  basic_auth: { module: 'BasicAuth', member: 'credentials', place: 'traffic_policy', convert: credentials },
  ip_restriction_allow_cidrs: { ...IP, member: 'allow_cidrs' },
  ip_restriction_deny_cidrs: { ...IP, member: 'deny_cidrs' },
  allow_user_agent: { ...AGENTS, member: 'allow', place: 'user_agent_filter/allow' },
  deny_user_agent: { ...AGENTS, member: 'deny', place: 'user_agent_filter/deny' },
  request_header_add: { ...REQUEST, member: 'add', place: 'request_headers/add' },
  request_header_remove: { ...REQUEST, member: 'remove' },
  response_header_add: { ...RESPONSE, member: 'add', place: 'response_headers/add' },
  response_header_remove: { ...RESPONSE, member: 'remove' },
  compression: { module: 'Compression', place: 'compression' },
  circuit_breaker: { module: 'CircuitBreaker', member: 'error_threshold', place: 'circuit_breaker' },
  websocket_tcp_converter: { module: 'WebsocketTCPConverter', place: 'websocket_tcp_converter' },
  verify_webhook_provider: { ...WEBHOOK, member: 'provider' },
  verify_webhook_secret: { ...WEBHOOK, member: 'secret', place: 'webhook_verification/secret' },
  mutual_tls_cas: {
    module: 'MutualTLSCA',
    member: 'mutual_tls_ca',
    place: 'certificate_authorities',
    schemes: [...HTTP, 'tls'],
    convert: joined,
  },
  oauth_provider: { ...OAUTH, member: 'provider' },
  oauth_client_id: { ...OAUTH, member: 'client_id', place: 'client_id' },
  oauth_client_secret: { ...OAUTH, member: 'client_secret', place: 'client_secret' },
  oauth_scopes: { ...OAUTH, member: 'scopes', place: 'scopes' },
  oauth_allow_emails: { ...OAUTH, member: 'allow_emails', place: 'email_addresses' },
  oauth_allow_domains: { ...OAUTH, member: 'allow_domains', place: 'email_domains' },
  oidc_issuer_url: { ...OIDC, member: 'issuer_url' },
  oidc_client_id: { ...OIDC, member: 'client_id', place: 'client_id' },
  oidc_client_secret: { ...OIDC, member: 'client_secret', place: 'client_secret' },
  oidc_scopes: { ...OIDC, member: 'scopes', place: 'scopes' },
  oidc_allow_emails: { ...OIDC, member: 'allow_emails', place: 'traffic_policy' },
  oidc_allow_domains: { ...OIDC, member: 'allow_domains', place: 'traffic_policy' },
  crt: { ...TLS, member: 'cert' },
  key: { ...TLS, member: 'key', place: 'private_key_pem' },
};
/** Options that the protocol has outside of modules. */
type Elsewhere = 'url' | 'pooling_enabled' | 'traffic_policy';

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

function joined(pems: readonly string[]): string {
  return base64(pems.join('\n'));
}

function credentials(pairs: readonly string[]): unknown {
  return pairs.map((pair) => {
    const [username = '', ...rest] = pair.split(':');
    return { username, cleartext_password: rest.join(':') };
  });
}

const NAMES = Object.keys(OPTIONS) as (keyof typeof OPTIONS)[];
const FORM = /^(https?|tls|tcp):\/\/([^/?#\s:]+)(?::(\d{1,5}))?\/?$/i;
const PORTS: Readonly<Record<string, number>> = { http: 80, https: 443, tls: 443 };

/** The options that make sense with a URL only. */
export function endpointOptionsOf(config: EndpointOptions): string[] {
  return ['pooling_enabled', 'traffic_policy', ...NAMES].filter((name) => Object.hasOwn(config, name));
}

/**
 * What an agent binds, as the protocol has it: the same request that an SDK sends. Null for what is not a bind, which is
 * reported.
 */
export function bindOf(
  { url = '', pooling_enabled: pooling = false, traffic_policy: policy, ...options }: EndpointOptions,
  pointer: string,
  report: Report<ScenarioCode>,
): PlacedBind | null {
  const [, given = '', host = '', port] = FORM.exec(url) ?? [];
  const scheme = given.toLowerCase();
  const problem = urlProblem(url, scheme, port);
  if (problem !== null) {
    const notes = [
      'https://shop.test, https://*.shop.test, https://app.internal, tls://db.test, tcp://1.tcp.test:5432',
    ];
    report('scenario.bad_agent', `${pointer}/url`, problem, { notes });
    return null;
  }
  const unfit = NAMES.find((name) => options[name] !== undefined && !schemesOf(name).includes(scheme));
  if (unfit !== undefined) {
    report(
      'scenario.bad_agent',
      pointerTo(pointer, unfit),
      `an endpoint of ${scheme} has no option ${quoted(unfit)}; it is for ${listed(schemesOf(unfit))}`,
      { at: 'key' },
    );
    return null;
  }
  const where = scheme === 'tcp' ? { Addr: `${host}:${port}` } : { Domain: host };
  const opts = { ...where, ...modulesOf(options, scheme), TrafficPolicy: policyText(policy) };
  const bind = readBind(new Members({ Proto: scheme, Opts: opts, Extra: { PoolingEnabled: pooling } }));
  if (isRefusal(bind)) {
    report('scenario.refused_bind', `${pointer}/url`, bind.message);
    return null;
  }
  return { ...bind, port: bind.port! };
}

function urlProblem(url: string, scheme: string, port: string | undefined): string | null {
  if (scheme === '') return `${quoted(url)} is not the URL of an endpoint`;
  const usual = PORTS[scheme];
  if (usual === undefined) return port === undefined ? `${quoted(url)} needs a port` : null;
  if (port === undefined || Number(port) === usual) return null;
  return `an endpoint of ${scheme} has the port ${usual}`;
}

function schemesOf(name: keyof typeof OPTIONS): readonly string[] {
  return OPTIONS[name].schemes ?? HTTP;
}

/** The text of a policy that may be a map; null without one. */
export function policyText(policy: EndpointOptions['traffic_policy']): string | null {
  if (policy === undefined) return null;
  return typeof policy === 'string' ? policy : JSON.stringify(policy);
}

function modulesOf(options: EndpointOptions, scheme: string): Record<string, unknown> {
  const modules: Record<string, Record<string, unknown>> = {};
  for (const name of NAMES) {
    const value = options[name];
    if (value === undefined || value === false) continue;
    const { module, member, convert } = OPTIONS[name];
    // The protocol has another name for the authorities of TLS.
    const named = scheme === 'tls' && module === 'MutualTLSCA' ? 'MutualTLSAtEdge' : module;
    const own = (modules[named] ??= {});
    if (member !== undefined) own[member] = convert === undefined ? value : convert(value as never);
  }
  return modules;
}

const IN_POLICY = /\/traffic_policy\/value(.*)$/;

/** Reports why a bind is refused, at the option that is to blame. */
export function reportRefusal(
  { number, message, findings }: Refusal,
  options: EndpointOptions,
  pointer: string,
  report: Report<ScenarioCode>,
  what: string,
  notes: readonly string[] = [],
): void {
  if (findings === undefined) {
    const at = number === ALREADY_ONLINE ? `${pointer}/url` : pointer;
    return report('scenario.refused_bind', at, `${what}${message}`, { notes });
  }
  for (const { code, message: text, hint, pointer: at, span, source } of findings) {
    const { place, isWithin } = placeOf(at, options);
    const policy = options.traffic_policy;
    const within =
      isWithin && typeof policy === 'string' && span !== undefined && source?.text === policy
        ? { span, decoded: policy }
        : undefined;
    report('scenario.refused_bind', `${pointer}${place}`, `${what}${code} ${text}`, { hint, within });
  }
}

/** The option that a finding is about, by its place in the configuration that the options become. */
function placeOf(
  at: string,
  options: EndpointOptions,
): { readonly place: string; readonly isWithin: boolean } {
  const { traffic_policy: policy } = options;
  const inner = IN_POLICY.exec(at)?.[1];
  if (inner !== undefined && policy !== undefined) {
    const place = typeof policy === 'string' ? '/traffic_policy' : `/traffic_policy${inner}`;
    return { place, isWithin: typeof policy === 'string' };
  }
  if (at.endsWith('/hostports/0')) return { place: '/url', isWithin: false };
  const named = NAMES.filter((name) => options[name] !== undefined && at.includes(`/${OPTIONS[name].place}`));
  // The longest place says the most.
  named.sort((one, other) => OPTIONS[other].place.length - OPTIONS[one].place.length);
  return { place: named[0] === undefined ? '' : `/${named[0]}`, isWithin: false };
}
