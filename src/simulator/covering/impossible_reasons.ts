import type { RouteConfig } from '../../edge/document/schema.ts';
import { findProvider } from '../../mechanisms/webhook/table.ts';
import type { PlacedRoute } from './placed_routes.ts';

/** What is asked of the config of any module here; each has only some of it. */
interface AnyConfig {
  readonly redirect_http?: boolean;
  readonly terminate_at?: string;
  readonly options_passthrough?: boolean;
  readonly inactivity_timeout?: number;
  readonly provider?: unknown;
  readonly secret?: string;
  readonly authorized_groups?: readonly string[];
}

/** Why a module never comes to a reason, as far as its configuration alone tells; null when it may. */
export function impossibleReason(
  code: string,
  config: object,
  route: RouteConfig | null,
  carrier: PlacedRoute['kind'],
): string | null {
  const dot = code.indexOf('.');
  const [module, reason] = [code.slice(0, dot), code.slice(dot + 1)];
  const own = config as AnyConfig;
  switch (module) {
    case 'user_agent_filter':
      return filterReason(reason, route);
    case 'tls_termination':
      return terminationReason(reason, own, carrier);
    case 'mutual_tls':
      return certificateReason(reason, carrier);
    case 'oauth':
    case 'oidc':
    case 'saml':
      return loginReason(module, reason, own);
    case 'webhook_verification':
      return webhookReason(reason, own);
    default:
      return null;
  }
}

function filterReason(reason: string, route: RouteConfig | null): string | null {
  const filter = route?.user_agent_filter;
  if (reason === 'allowed' && filter?.allow.length === 0) return 'the filter allows no pattern';
  if (reason === 'not_denied' && filter !== undefined && filter.allow.length > 0)
    return 'whoever is let in matches a pattern';
  return reason === 'denied' && filter?.deny.length === 0 ? 'the filter denies no pattern' : null;
}

const NO_OTHER_HANDSHAKE = 'the connections of cases are made for the host that they ask';

function terminationReason(
  reason: string,
  { redirect_http: redirects, terminate_at: end = 'edge' }: AnyConfig,
  carrier: PlacedRoute['kind'],
): string | null {
  if (reason === 'misdirected') return NO_OTHER_HANDSHAKE;
  if (reason === 'passed' && (carrier === 'https' || end === 'edge')) return 'TLS ends at the edge';
  if (reason === 'terminated' && end !== 'edge') return 'TLS passes through';
  if (carrier !== 'https')
    return reason === 'plain' || reason === 'redirected' ? 'that is for requests' : null;
  if (reason === 'redirected' && redirects !== true) return 'requests without TLS are not redirected';
  return reason === 'plain' && redirects === true ? 'requests without TLS are redirected' : null;
}

function certificateReason(reason: string, carrier: PlacedRoute['kind']): string | null {
  if (reason === 'misdirected') return NO_OTHER_HANDSHAKE;
  if (reason === 'untrusted' || reason === 'not_valid_now')
    return 'certificates of cases are of a trusted authority, and valid';
  if (reason === 'no_certificate' && carrier === 'https')
    return 'without a certificate requests of cases have no TLS';
  return reason === 'no_tls' && carrier !== 'https' ? 'connections of this edge have TLS' : null;
}

function loginReason(module: string, reason: string, config: AnyConfig): string | null {
  switch (reason) {
    case 'options_passed':
      return config.options_passthrough === true ? null : '`options_passthrough` is off';
    case 'not_run':
      return 'in cases a provider stands in for the managed app of the service';
    case 'provider_logout':
      return module === 'oauth' ? 'OAuth providers end no sessions here' : null;
    case 'answered':
      return module === 'saml' ? null : 'a gate of this protocol has no further paths';
    case 'not_authorized':
      return hasList(module, config) ? null : 'everybody who can log in is let in';
    case 'cookie_set':
      return module === 'saml' && config.inactivity_timeout === 0 ? 'nothing in the session changes' : null;
    case 'provider_failed':
      return module === 'saml' ? 'a SAML provider is not asked, it sends its answers' : null;
    default:
      return null;
  }
}

/** Whether a gate lets in some users only. */
function hasList(module: string, { provider, authorized_groups: groups = [] }: AnyConfig): boolean {
  if (module === 'saml') return groups.length > 0;
  if (module === 'oidc') return false;
  return Object.values((provider ?? {}) as Readonly<Record<string, object | undefined>>).some((app) =>
    Object.entries(app ?? {}).some(
      ([key, value]) => key !== 'scopes' && Array.isArray(value) && value.length > 0,
    ),
  );
}

function webhookReason(reason: string, { provider: name }: AnyConfig): string | null {
  const provider = findProvider(String(name));
  if (provider === undefined) return null;
  const { schemes } = provider;
  const hasTime = schemes.some(({ timestamp }) => timestamp !== undefined);
  const hasCertificate = schemes.some(({ algorithm }) => algorithm === 'rsa_certificate');
  const hasFields = schemes.some(({ fields }) => fields !== undefined);
  const readsBody = schemes.some(
    ({ signs, signature, timestamp, fields = {} }) =>
      /form|json/.test(signs) ||
      [...signature, ...Object.values(fields), timestamp?.at].some(
        (place) => place !== undefined && ('json' in place || 'form' in place),
      ),
  );
  const hasUrl = schemes.some(({ url }) => url !== undefined);
  if (reason.startsWith('timestamp_') && !hasTime) return 'this provider signs no timestamp';
  if (reason.startsWith('certificate_') && !hasCertificate) return 'this provider signs with no certificate';
  if (reason.startsWith('field_') && !hasFields && !hasCertificate)
    return 'this provider signs no further values';
  if (reason === 'url_malformed' && !hasUrl) return 'this provider signs no URL';
  if ((reason === 'body_malformed' || reason === 'body_not_signed') && !readsBody)
    return 'this provider signs any body as it is';
  if (reason === 'secret_unusable') return 'the secret was checked with the configuration';
  if (reason === 'body_unavailable') return 'the bodies of cases arrive whole';
  if (reason === 'challenge_answered' && provider.challenge === undefined)
    return 'this provider asks no challenge';
  return null;
}
