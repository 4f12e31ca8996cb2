import type { Finding } from '../../filters/facts.ts';
import { MODULE_FACTS } from '../../filters/table.ts';
import type { ReadingCode, ShapeCode } from '../../config_file/codes.ts';

// table: codes and their sentences
const DOCUMENT_CODES = {
  // Reading the text.
  'edge.empty': { severity: 'error', message: 'The file holds nothing but white space and comments.' },
  'edge.not_a_map': { severity: 'error', message: 'The file has to be a map of keys at its top.' },
  'edge.too_large': { severity: 'error', message: 'The file is larger than an edge file may be.' },
  'edge.too_deep': { severity: 'error', message: 'Lists and maps are nested deeper than any edge needs.' },
  'edge.several_documents': { severity: 'error', message: 'A file holds one document, so no second `---`.' },
  'edge.syntax': { severity: 'error', message: 'The text is not YAML 1.2, of which JSON is a part.' },
  'edge.tab_indent': { severity: 'error', message: 'YAML is indented with spaces, never with tabs.' },
  'edge.unknown_tag': {
    severity: 'error',
    message: 'A plain value that begins with `!` is a tag in YAML: quote it.',
  },
  'edge.unknown_alias': { severity: 'error', message: 'An alias needs an anchor of its name before it.' },
  'edge.alias_limit': { severity: 'error', message: 'Aliases expand to more values than any edge needs.' },
  'edge.duplicate_key': { severity: 'error', message: 'A key may stand only once in a map.' },
  'edge.bad_key': {
    severity: 'error',
    message: 'A key has to be a text, and not one that JavaScript reserves.',
  },
  // The shape: the JSON Schema.
  'edge.unknown_key': { severity: 'error', message: 'The key means nothing at this place.' },
  'edge.missing_key': { severity: 'error', message: 'A required key is not there.' },
  'edge.wrong_type': { severity: 'error', message: 'The value has another type than its key needs.' },
  'edge.unknown_value': {
    severity: 'error',
    message: 'The value is not one of those that its key may have.',
  },
  'edge.out_of_range': { severity: 'error', message: 'The number is outside its limits.' },
  'edge.too_long': { severity: 'error', message: 'The text is longer than its limit in bytes.' },
  'edge.empty_value': { severity: 'error', message: 'The text or list must not be empty.' },
  'edge.bad_form': { severity: 'error', message: 'The text does not have the form that its key needs.' },
  'edge.bad_name': {
    severity: 'error',
    message: 'Names consist of letters, digits, dashes, underscores and dots.',
  },
  // What a schema cannot say.
  'edge.unknown_backend': { severity: 'error', message: 'No backend has this name.', number: 6514 },
  'edge.unknown_ip_policy': { severity: 'error', message: 'No IP policy has this name.', number: 1402 },
  'edge.unknown_certificate_authority': {
    severity: 'error',
    message: 'No certificate authority has this name.',
  },
  'edge.certificate_source': {
    severity: 'error',
    message: 'A certificate and its key are given each either in place or as a file.',
  },
  'edge.bad_certificate': {
    severity: 'error',
    message: 'The text is not the certificate or key that is needed here.',
  },
  'edge.backend_not_dialled': {
    severity: 'error',
    message: 'A TLS or TCP edge needs a backend that connections can be made to.',
  },
  'edge.backend_kind': { severity: 'error', message: 'A backend is of exactly one kind.' },
  'edge.nested_backend': {
    severity: 'error',
    message: 'A weighted backend may not lead to another weighted one, nor failover to failover.',
    number: 6524,
  },
  'edge.backend_cycle': {
    severity: 'error',
    message: 'A backend must not lead back to itself.',
    number: 6524,
  },
  'edge.bad_address': {
    severity: 'error',
    message: 'The address of a static backend is a host and a port.',
    number: 6505,
  },
  'edge.bad_hostport': {
    severity: 'error',
    message: 'A hostport is a host name and a port, 443 for HTTPS edges.',
    number: 7104,
  },
  'edge.duplicate_hostport': {
    severity: 'error',
    message: 'A host name and its port belong to one edge.',
    number: 7122,
  },
  'edge.bad_match': {
    severity: 'error',
    message: 'A match is a path, a host, or a host followed by a path.',
    number: 7131,
  },
  'edge.duplicate_route': {
    severity: 'error',
    message: 'Two routes of an edge take the same requests.',
    number: 7126,
  },
  'edge.certificate_expired': {
    severity: 'warning',
    message: 'A certificate of the file is past its time, or before it: clients refuse it, or are refused.',
  },
  'edge.several_logins': {
    severity: 'error',
    message: 'A route has at most one of oauth, oidc and saml.',
    number: 7079,
  },
  'edge.bad_cidr': {
    severity: 'error',
    message: 'A range of addresses is written with its mask and no bits beyond it.',
    number: 1406,
  },
  'edge.duplicate_cidr': {
    severity: 'error',
    message: 'A range stands only once in an IP policy.',
    number: 1408,
  },
  'edge.bad_header': {
    severity: 'error',
    message: 'The header cannot be set or removed by configuration.',
    number: 7023,
  },
  // Legal, but surely wrong.
  'edge.no_edges': { severity: 'warning', message: 'Without an edge nothing is served.' },
  'edge.no_routes': {
    severity: 'warning',
    message: 'An edge without routes answers every request with 404.',
  },
  'edge.route_without_backend': {
    severity: 'warning',
    message: 'A route without a backend has nothing to answer with.',
  },
  'edge.edge_without_backend': {
    severity: 'warning',
    message: 'A TLS or TCP edge without a backend closes every connection.',
  },
  'edge.unused_certificate_authority': {
    severity: 'warning',
    message: 'No edge refers to this certificate authority.',
  },
  'edge.unreachable_host': {
    severity: 'warning',
    message: 'The route names a host that its edge does not answer for.',
  },
  'edge.literal_wildcard': { severity: 'warning', message: 'A `*` in a match stands for itself.' },
  'edge.unused_backend': { severity: 'warning', message: 'No route leads to this backend.' },
  'edge.unused_ip_policy': { severity: 'warning', message: 'No route refers to this IP policy.' },
  'edge.backend_without_choice': {
    severity: 'warning',
    message: 'The backend has no child that it could ever choose.',
  },
  'edge.body_not_sent': { severity: 'warning', message: 'Responses of this status have no body.' },
} as const satisfies Record<`edge.${ReadingCode | ShapeCode}`, Finding> & Record<string, Finding>;

/** Every finding that checking an edge file can make. A fixture in `fixtures/broken` shows each of them. */
export const EDGE_CODES: Readonly<Record<string, Finding>> = Object.assign(
  {},
  DOCUMENT_CODES,
  ...Array.from(MODULE_FACTS.values(), ({ findings }) => findings),
);

/** A finding of the document itself, or one that a filter declares. */
export type EdgeCode = keyof typeof DOCUMENT_CODES | (string & {});
