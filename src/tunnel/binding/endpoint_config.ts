import { type Diagnostic, hasErrors } from '../../diagnostics/diagnostic.ts';
import { renderDiagnostics } from '../../diagnostics/render.ts';
import { numberOfFinding } from '../../edge/document/codes.ts';
import type { EdgeConfig } from '../../edge/document/schema.ts';
import { isInternalHost } from '../../edge/document/internal_hosts.ts';
import { checkWholeEdge } from '../../edge/semantic_checks.ts';
import type { BindRequest } from './bind_request.ts';
import { attachedPolicy, hasAllowList, sealed } from './endpoint_policy.ts';
import { misshapenOption } from './option_shapes.ts';
import { type Members, type Refusal, isRefusal } from './members.ts';

type Value = Record<string, unknown>;

const MAX_PORT = 65_535;
/** The number of refusals of a host that cannot be one. */
const BAD_DOMAIN = 326;

/**
 * The part of a configuration that an endpoint of an agent is: an edge whose one route leads to the tunnels of the
 * endpoint, with the options of the bind as the modules of edges. The names of all parts are the id. `current` is what
 * the options may refer to.
 */
export function endpointConfig(id: string, bind: BindRequest, current: EdgeConfig): EdgeConfig | Refusal {
  const parts: Parts = { id, ipPolicies: {}, authorities: {}, certificates: {} };
  const edge = edgeOf(parts, bind, current.service_name);
  if (isRefusal(edge)) return edge;
  const others = internalEdges(current);
  const value = {
    service_name: current.service_name,
    ip_policies: { ...current.ip_policies, ...parts.ipPolicies },
    backends: { [id]: { tunnel_group: { labels: {} } } },
    certificate_authorities: parts.authorities,
    tls_certificates: parts.certificates,
    edges: { ...others, [bind.kind]: { ...others[bind.kind], [id]: edge } },
  };
  const { config, diagnostics } = checkWholeEdge({ value });
  if (config === null || hasErrors(diagnostics)) return refusalOf(diagnostics);
  return {
    ...config,
    ip_policies: ownOf(config.ip_policies, id),
    edges: {
      https: ownOf(config.edges.https, id),
      tls: ownOf(config.edges.tls, id),
      tcp: ownOf(config.edges.tcp, id),
    },
  };
}

/** The internal edges that a policy of the endpoint may forward to: only their addresses. */
function internalEdges({ edges }: EdgeConfig) {
  const passed = { tls_termination: { terminate_at: 'upstream' } };
  return {
    https: internalOf(edges.https),
    tls: internalOf(edges.tls, passed),
    tcp: internalOf(edges.tcp),
  };
}

function internalOf(
  family: Readonly<Record<string, { readonly hostports: readonly string[] }>>,
  more: object = {},
): Record<string, object> {
  const found = Object.entries(family).filter(([, { hostports }]) =>
    hostports.some((each) => isInternalHost(each.replace(/:\d+$/, ''))),
  );
  return Object.fromEntries(found.map(([name, { hostports }]) => [name, { hostports, ...more }]));
}
interface Parts {
  readonly id: string;
  readonly ipPolicies: Value;
  readonly authorities: Value;
  readonly certificates: Value;
}

function edgeOf(parts: Parts, bind: BindRequest, service: string): Value | Refusal {
  const { opts, kind, host, port } = bind;
  const misshapen = misshapenOption(kind, opts);
  if (misshapen !== null) return misshapen;
  const hostports = [`${host}:${port ?? MAX_PORT}`];
  const backend = { backend_id: parts.id };
  const restriction = ipRestriction(parts, opts.object('IPRestriction'), bind.ipPolicy);
  const policy = attachedPolicy(kind, opts, service);
  if (isRefusal(policy)) return policy;
  if (kind === 'tcp') return { hostports, backend, ...restriction, ...policy };
  const mutual = mutualTls(parts, opts.object(kind === 'tls' ? 'MutualTLSAtEdge' : 'MutualTLSCA'));
  if (kind === 'tls') {
    return { hostports, backend, ...restriction, ...policy, ...mutual, ...termination(parts, opts) };
  }
  const modules = httpModules(opts);
  if (isRefusal(modules)) return modules;
  const route = { match_type: 'path_prefix', match: '/', backend, ...restriction, ...modules, ...policy };
  return { hostports, ...mutual, routes: [route] };
}

/** The options of an HTTP endpoint that are modules of routes. */
function httpModules(opts: Members): Value | Refusal {
  const breaker = opts.object('CircuitBreaker');
  const agents = opts.object('UserAgentFilter');
  const webhook = opts.object('WebhookVerification');
  const oauth = oauthModule(opts.object('OAuth'));
  const oidc = oidcModule(opts.object('OIDC'));
  if (isRefusal(oauth)) return oauth;
  if (isRefusal(oidc)) return oidc;
  if (webhook !== null && webhook.text('sealed_secret') !== '') return sealed('webhook secret');
  return {
    ...(opts.object('Compression') !== null && { compression: {} }),
    ...(breaker !== null && {
      circuit_breaker: { error_threshold_percentage: breaker.number('error_threshold') },
    }),
    ...(agents !== null && {
      user_agent_filter: { allow: agents.texts('allow'), deny: agents.texts('deny') },
    }),
    ...(webhook !== null && {
      webhook_verification: {
        provider: webhook.text('provider'),
        ...(webhook.text('secret') !== '' && { secret: webhook.text('secret') }),
      },
    }),
    ...(opts.object('WebsocketTCPConverter') !== null && { websocket_tcp_converter: {} }),
    ...headers('request_headers', opts.object('RequestHeaders')),
    ...headers('response_headers', opts.object('ResponseHeaders')),
    ...oauth,
    ...oidc,
  };
}

function headers(module: string, given: Members | null): Value {
  if (given === null) return {};
  const add = given.texts('add').map((each) => {
    const colon = each.indexOf(':');
    return [each.slice(0, colon).trim(), each.slice(colon + 1).trim()] as const;
  });
  const added = { ...Object.fromEntries(add), ...given.map('addParsed') };
  return { [module]: { add: added, remove: given.texts('remove') } };
}

function oauthModule(given: Members | null): Value | Refusal {
  if (given === null) return {};
  if (given.text('sealed_client_secret') !== '') return sealed('OAuth client secret');
  const clientId = given.text('client_id');
  const app = {
    ...(clientId !== '' && { client_id: clientId, client_secret: given.text('client_secret') }),
    scopes: given.texts('scopes'),
    email_addresses: given.texts('allow_emails'),
    email_domains: given.texts('allow_domains'),
  };
  return { oauth: { provider: { [given.text('provider')]: app } } };
}

/** A login with lists is part of the policy. */
function oidcModule(given: Members | null): Value | Refusal {
  if (given === null || hasAllowList(given)) return {};
  if (given.text('sealed_client_secret') !== '') return sealed('OpenID client secret');
  const [issuer, id, secret] = ['issuer_url', 'client_id', 'client_secret'].map((name) => given.text(name));
  return { oidc: { issuer, client_id: id, client_secret: secret, scopes: given.texts('scopes') } };
}

/** Ranges of the bind, and an IP policy of the operator that it names: an address needs an allow rule of either. */
function ipRestriction({ id, ipPolicies }: Parts, given: Members | null, named: string): Value {
  if (given === null && named === '') return {};
  // SDKs send a range twice that was given in two spellings of the option.
  const rules = (['allow', 'deny'] as const).flatMap((action) =>
    [...new Set(given?.texts(`${action}_cidrs`))].map((cidr) => ({ action, cidr })),
  );
  // A list of denied ranges alone allows all others.
  if (named === '' && !rules.some(({ action }) => action === 'allow'))
    rules.push({ action: 'allow', cidr: '0.0.0.0/0' }, { action: 'allow', cidr: '::/0' });
  if (rules.length > 0) ipPolicies[id] = { rules };
  return {
    ip_restriction: { ip_policy_ids: [...(rules.length > 0 ? [id] : []), ...(named === '' ? [] : [named])] },
  };
}

/** All certificates of the list are authorities; each is an object of its own. */
function mutualTls({ id, authorities }: Parts, given: Members | null): Value {
  if (given === null) return {};
  const pem = fromBase64(given.text('mutual_tls_ca'));
  const found = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [pem];
  const ids = found.map((each, index) => {
    authorities[`${id}.${index}`] = { ca_pem: `${each}\n` };
    return `${id}.${index}`;
  });
  return { mutual_tls: { certificate_authority_ids: ids } };
}

function termination({ id, certificates }: Parts, opts: Members): Value {
  const given = opts.object('TLSTermination');
  if (given === null) return { tls_termination: { terminate_at: 'upstream' } };
  const [certificate, key] = [fromBase64(given.text('cert')), fromBase64(given.text('key'))];
  if (certificate !== '') certificates[id] = { certificate_pem: certificate, private_key_pem: key };
  return { tls_termination: { terminate_at: 'edge' } };
}

function refusalOf(diagnostics: readonly Diagnostic[]): Refusal {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const message = renderDiagnostics(errors, { color: false }).trim();
  const [first] = errors;
  const number = first!.pointer.endsWith('/hostports/0') ? BAD_DOMAIN : numberOfFinding(first!);
  return { number, message, findings: errors };
}

function fromBase64(text: string): string {
  return Buffer.from(text, 'base64').toString('utf8');
}

/** The members whose names begin with the id. */
function ownOf<Thing>(things: Readonly<Record<string, Thing>>, id: string): Record<string, Thing> {
  return Object.fromEntries(
    Object.entries(things).filter(([name]) => name === id || name.startsWith(`${id}.`)),
  );
}
