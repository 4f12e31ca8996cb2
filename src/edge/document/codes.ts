import type { Severity } from '../../diagnostics/diagnostic.ts';
import type { ReadingCode, ShapeCode } from '../../document/codes.ts';

interface Code {
  readonly severity: Severity;
  /** One sentence for whoever looks the code up. */
  readonly says: string;
}

/** Every finding that checking an edge file can make. A fixture in `fixtures/broken` shows each of them. */
// table: codes and their sentences
export const EDGE_CODES = {
  // Reading the text.
  'edge.empty': { severity: 'error', says: 'The file holds nothing but white space and comments.' },
  'edge.not_a_map': { severity: 'error', says: 'The file has to be a map of keys at its top.' },
  'edge.too_large': { severity: 'error', says: 'The file is larger than an edge file may be.' },
  'edge.too_deep': { severity: 'error', says: 'Lists and maps are nested deeper than any edge needs.' },
  'edge.several_documents': { severity: 'error', says: 'A file holds one document, so no second `---`.' },
  'edge.syntax': { severity: 'error', says: 'The text is not YAML 1.2, of which JSON is a part.' },
  'edge.tab_indent': { severity: 'error', says: 'YAML is indented with spaces, never with tabs.' },
  'edge.unknown_tag': {
    severity: 'error',
    says: 'A plain value that begins with `!` is a tag in YAML: quote it.',
  },
  'edge.unknown_alias': { severity: 'error', says: 'An alias needs an anchor of its name before it.' },
  'edge.alias_limit': { severity: 'error', says: 'Aliases expand to more values than any edge needs.' },
  'edge.duplicate_key': { severity: 'error', says: 'A key may stand only once in a map.' },
  'edge.bad_key': {
    severity: 'error',
    says: 'A key has to be a text, and not one that JavaScript reserves.',
  },
  // The shape: the JSON Schema.
  'edge.unknown_key': { severity: 'error', says: 'The key means nothing at this place.' },
  'edge.missing_key': { severity: 'error', says: 'A required key is not there.' },
  'edge.wrong_type': { severity: 'error', says: 'The value has another type than its key needs.' },
  'edge.unknown_value': { severity: 'error', says: 'The value is not one of those that its key may have.' },
  'edge.out_of_range': { severity: 'error', says: 'The number is outside its limits.' },
  'edge.too_long': { severity: 'error', says: 'The text is longer than its limit in bytes.' },
  'edge.empty_value': { severity: 'error', says: 'The text or list must not be empty.' },
  'edge.bad_form': { severity: 'error', says: 'The text does not have the form that its key needs.' },
  'edge.bad_name': {
    severity: 'error',
    says: 'Names consist of letters, digits, dashes, underscores and dots.',
  },
  // What a schema cannot say.
  'edge.unknown_backend': { severity: 'error', says: 'No backend has this name.' },
  'edge.unknown_ip_policy': { severity: 'error', says: 'No IP policy has this name.' },
  'edge.unknown_certificate_authority': {
    severity: 'error',
    says: 'No certificate authority has this name.',
  },
  'edge.too_many_authorities': {
    severity: 'error',
    says: 'Mutual TLS has at most ten certificate authorities.',
  },
  'edge.termination_elsewhere': {
    severity: 'error',
    says: 'Client certificates can be asked for only where the edge itself ends TLS.',
  },
  'edge.certificate_source': {
    severity: 'error',
    says: 'A certificate and its key are given each either in place or as a file.',
  },
  'edge.bad_certificate': {
    severity: 'error',
    says: 'The text is not the certificate or key that is needed here.',
  },
  'edge.backend_not_dialled': {
    severity: 'error',
    says: 'A TLS or TCP edge needs a backend that connections can be made to.',
  },
  'edge.backend_kind': { severity: 'error', says: 'A backend is of exactly one kind.' },
  'edge.nested_backend': {
    severity: 'error',
    says: 'A weighted backend may not lead to another weighted one, nor failover to failover.',
  },
  'edge.backend_cycle': { severity: 'error', says: 'A backend must not lead back to itself.' },
  'edge.bad_address': { severity: 'error', says: 'The address of a static backend is a host and a port.' },
  'edge.bad_hostport': {
    severity: 'error',
    says: 'A hostport is a host name and a port, 443 for HTTPS edges.',
  },
  'edge.duplicate_hostport': { severity: 'error', says: 'A host name and its port belong to one edge.' },
  'edge.bad_match': { severity: 'error', says: 'A match is a path, a host, or a host followed by a path.' },
  'edge.duplicate_route': { severity: 'error', says: 'Two routes of an edge take the same requests.' },
  'edge.certificate_expired': {
    severity: 'warning',
    says: 'A certificate of the file is past its time, or before it: clients refuse it, or are refused.',
  },
  'edge.saml_metadata': {
    severity: 'error',
    says: 'The metadata of a SAML identity provider cannot be used as it stands.',
  },
  'edge.saml_expired': {
    severity: 'warning',
    says: 'A certificate of a SAML identity provider, or its metadata, is past its time.',
  },
  'edge.several_logins': { severity: 'error', says: 'A route has at most one of oauth, oidc and saml.' },
  'edge.oauth_provider': { severity: 'error', says: 'An oauth module has exactly one provider.' },
  'edge.oauth_app': {
    severity: 'error',
    says: 'An OAuth app of your own needs client_id and client_secret; scopes need the app.',
  },
  'edge.webhook_secret': {
    severity: 'error',
    says: 'Every webhook provider but sns needs a secret of its form, and sns has none.',
  },
  'edge.webhook_uncertain': {
    severity: 'warning',
    says: 'How this provider signs is not published; the verification may be wrong.',
  },
  'edge.bad_cidr': {
    severity: 'error',
    says: 'A range of addresses is written with its mask and no bits beyond it.',
  },
  'edge.duplicate_cidr': { severity: 'error', says: 'A range stands only once in an IP policy.' },
  'edge.bad_pattern': {
    severity: 'error',
    says: 'The pattern is not a regular expression that runs in linear time.',
  },
  'edge.bad_header': { severity: 'error', says: 'The header cannot be set or removed by configuration.' },
  'edge.interpolation_not_available': {
    severity: 'error',
    says: 'Expressions in header values are not part of this version.',
  },
  // Legal, but surely wrong.
  'edge.no_edges': { severity: 'warning', says: 'Without an edge nothing is served.' },
  'edge.no_routes': { severity: 'warning', says: 'An edge without routes answers every request with 404.' },
  'edge.route_without_backend': {
    severity: 'warning',
    says: 'A route without a backend has nothing to answer with.',
  },
  'edge.edge_without_backend': {
    severity: 'warning',
    says: 'A TLS or TCP edge without a backend closes every connection.',
  },
  'edge.unused_certificate_authority': {
    severity: 'warning',
    says: 'No edge refers to this certificate authority.',
  },
  'edge.unreachable_host': {
    severity: 'warning',
    says: 'The route names a host that its edge does not answer for.',
  },
  'edge.literal_wildcard': { severity: 'warning', says: 'A `*` in a match stands for itself.' },
  'edge.unused_backend': { severity: 'warning', says: 'No route leads to this backend.' },
  'edge.unused_ip_policy': { severity: 'warning', says: 'No route refers to this IP policy.' },
  'edge.backend_without_choice': {
    severity: 'warning',
    says: 'The backend has no child that it could ever choose.',
  },
  'edge.body_not_sent': { severity: 'warning', says: 'Responses of this status have no body.' },
  'edge.blocks_everybody': { severity: 'warning', says: 'Without an allow rule every address is blocked.' },
  'edge.pattern_matches_everything': { severity: 'warning', says: 'The pattern matches every user agent.' },
} as const satisfies Record<`edge.${ReadingCode | ShapeCode}`, Code> & Record<string, Code>;

export type EdgeCode = keyof typeof EDGE_CODES;
