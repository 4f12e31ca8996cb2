import type { Finding } from '../../filters/fact_values.ts';
import { MODULE_FACTS } from '../../filters/table.ts';
import type { ReadingCode, ShapeCode } from '../../config_file/codes.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';

// table: codes and their sentences
const DOCUMENT_CODES = {
  // Syntax.
  'edge.empty': { message: 'The file contains only white space and comments.' },
  'edge.not_a_map': { message: 'The top level of the file must be a map of keys.' },
  'edge.other_file': { message: 'The file is one of another tool, or a part of one of ours.' },
  'edge.too_large': { message: 'The file exceeds the size limit of edge files.' },
  'edge.not_text': { message: 'The file is not a text in UTF-8, or has a control character.' },
  'edge.too_deep': { message: 'Lists and maps are nested too deeply.' },
  'edge.several_documents': { message: 'A file has one document, so there must not be a second `---`.' },
  'edge.syntax': { message: 'The text is not valid YAML 1.2 (which includes JSON).' },
  'edge.tab_indent': { message: 'YAML is indented with spaces, not with tabs.' },
  'edge.unknown_tag': { message: 'In YAML, an unquoted value that starts with `!` is a tag: quote it.' },
  'edge.unknown_alias': { message: 'An alias needs an anchor with the same name before it.' },
  'edge.alias_limit': { message: 'Aliases expand to too many values.' },
  'edge.duplicate_key': { message: 'A map has the same key twice.' },
  'edge.bad_key': { message: 'A key must be a string, and not one that JavaScript reserves.' },
  // The shape: the JSON Schema.
  'edge.unknown_key': { message: 'The key is unknown at this place.' },
  'edge.missing_key': { message: 'A required key is missing.' },
  'edge.wrong_type': { message: 'The value has the wrong type for its key.' },
  'edge.unknown_value': { message: 'The value is not one of those that its key allows.' },
  'edge.out_of_range': { message: 'The number is outside its limits.' },
  'edge.too_long': { message: 'The string exceeds its limit in bytes.' },
  'edge.empty_value': { message: 'The string or list must not be empty.' },
  'edge.bad_form': { message: 'The string does not have the form that its key requires.' },
  'edge.bad_name': { message: 'Names consist of letters, digits, dashes, underscores and dots.' },
  // Checks beyond the schema.
  'edge.unknown_backend': { message: 'No backend has this name.', number: 6514 },
  'edge.unknown_ip_policy': { message: 'No IP policy has this name.', number: 1402 },
  'edge.unknown_certificate_authority': { message: 'No certificate authority has this name.' },
  'edge.certificate_source': {
    message: 'A certificate and a key are each given either inline or as a file.',
  },
  'edge.bad_certificate': { message: 'The text is not the certificate or key that is required here.' },
  'edge.secret_not_exported': {
    message:
      'The file has a placeholder where a secret is needed: `export` writes secrets only with `--secrets`, and only `apply` can keep those of the instance.',
  },
  'edge.backend_not_dialled': {
    message: 'A TLS or TCP edge needs a backend that connections can be made to.',
  },
  'edge.backend_kind': { message: 'A backend has exactly one kind.' },
  'edge.nested_backend': {
    message: 'A weighted backend cannot lead to another weighted one, nor failover to failover.',
    number: 6524,
  },
  'edge.backend_cycle': { message: 'A backend must not lead back to itself.', number: 6524 },
  'edge.bad_address': { message: 'The address of a static backend is a host and a port.', number: 6505 },
  'edge.bad_hostport': {
    message: 'A hostport is a host name and a port, 443 for HTTPS edges.',
    number: 7104,
  },
  'edge.duplicate_hostport': { message: 'A host name and its port belong to one edge.', number: 7122 },
  'edge.internal_termination': {
    message: 'A TLS edge that only `forward-internal` reaches passes TLS through.',
    number: 7104,
  },
  'edge.bad_match': { message: 'A match is a path, a host, or a host followed by a path.', number: 7131 },
  'edge.duplicate_route': { message: 'Two routes of an edge take the same requests.', number: 7126 },
  'edge.certificate_expired': {
    severity: 'warning',
    message: 'A certificate in the file has expired or is not yet valid, so connections with it fail.',
  },
  'edge.several_logins': { message: 'A route has at most one of oauth, oidc and saml.', number: 7079 },
  'edge.bad_cidr': {
    message: 'An address range needs a mask, and no bits may be set beyond it.',
    number: 1406,
  },
  'edge.duplicate_cidr': { message: 'An IP policy has the same range twice.', number: 1408 },
  'edge.bad_header': { message: 'The header cannot be set or removed by configuration.', number: 7023 },
  // Other files, and the environment.
  'edge.unreadable_file': { message: 'A file that is named here cannot be read.' },
  'edge.bad_include': { message: 'Files are included once each, and none includes itself.' },
  'edge.duplicate_definition': { message: 'Files that are joined by `include` define nothing twice.' },
  'edge.policy_form': {
    message: 'A traffic policy is written in one way: as phases, as a file, or as text in `value`.',
  },
  'edge.missing_variable': { message: 'An environment variable that is named here has no value.' },
  'edge.bad_reference': { message: 'A reference is `${env:NAME}` or `${file:PATH}`.' },
  // Valid, but probably a mistake.
  'edge.no_edges': { severity: 'warning', message: 'Without an edge nothing is served.' },
  'edge.no_routes': {
    severity: 'warning',
    message: 'An edge without routes answers every request with 404.',
  },
  'edge.route_without_backend': {
    severity: 'warning',
    message: 'A route without a backend cannot respond.',
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
    message: 'The route names a host that is not a host of its edge.',
  },
  'edge.open_slash': {
    severity: 'warning',
    message: 'A gate applies to a path, but not to the same path with a slash at its end.',
  },
  'edge.literal_wildcard': { severity: 'warning', message: 'A `*` in a match is a literal character.' },
  'edge.unused_backend': { severity: 'warning', message: 'No route leads to this backend.' },
  'edge.unused_ip_policy': { severity: 'warning', message: 'No route refers to this IP policy.' },
  'edge.backend_without_choice': {
    severity: 'warning',
    message: 'The backend has no child that can be chosen.',
  },
  'edge.body_not_sent': { severity: 'warning', message: 'Responses of this status have no body.' },
} as const satisfies Record<`edge.${ReadingCode | ShapeCode}`, Finding> & Record<string, Finding>;

/** Every finding about an edge file. A fixture in `fixtures/broken` shows each of them. */
export const EDGE_CODES: Readonly<Record<string, Finding>> = Object.assign(
  {},
  DOCUMENT_CODES,
  ...Array.from(MODULE_FACTS.values(), ({ findings }) => findings),
);

/** A finding of the document itself, or one that a filter declares. */
export type EdgeCode = keyof typeof DOCUMENT_CODES | (string & {});

/** Number of findings that have none of their own. */
const INVALID = 215;

/** The service's error number of a finding. */
export function numberOfFinding({ code, reason }: Pick<Diagnostic, 'code' | 'reason'>): number {
  const own = /^ERR_[A-Z_]+_(\d+)$/.exec(code);
  if (own !== null) return Number(own[1]);
  const { number = INVALID, numberOfReason = {} } = EDGE_CODES[code] ?? {};
  return reason === undefined ? number : (numberOfReason[reason] ?? number);
}
