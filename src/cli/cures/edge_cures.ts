import type { Cures } from './cure.ts';

/** Cures of what edge files can have beyond form; findings of filters have theirs in their facts. */
// table: examples and cures of codes
export const EDGE_CURES: Cures = {
  'edge.unknown_backend': [
    '`backend_id: ap` where only `app` is defined',
    'Correct the name, or define the backend in `backends`',
  ],
  'edge.unknown_ip_policy': [
    '`ip_policy_ids: [offce]` where only `office` is defined',
    'Correct the name, or define the policy in `ip_policies`',
  ],
  'edge.unknown_certificate_authority': [
    'A mutual TLS module that names an authority that is not in `certificate_authorities`',
    'Correct the name, or define the authority',
  ],
  'edge.certificate_source': [
    'A certificate with both `certificate_pem` and `certificate_file`',
    'Keep one of them, for the certificate and for the key',
  ],
  'edge.bad_certificate': [
    'A key in the place of a certificate',
    'Name the PEM file that the key describes; `edgeproof cert HOST` makes both',
  ],
  'edge.secret_not_exported': [
    'A file of `export` without `--secrets`, used in `dev`',
    'Export it with `--secrets`, or write the secret',
  ],
  'edge.backend_not_dialled': [
    'A TCP edge whose backend is an `http_response`',
    'Use a backend with an address, or with agents',
  ],
  'edge.backend_kind': [
    'A backend with `static` and `weighted`',
    'Keep one kind, and make a second backend of the other',
  ],
  'edge.nested_backend': [
    'A weighted backend among the children of another one',
    'Write its children into the outer one, with their weights',
  ],
  'edge.backend_cycle': ['Two failover backends that contain each other', 'Remove one of the references'],
  'edge.bad_address': ['`address: http://localhost:3000`', 'Write a host and a port: localhost:3000'],
  'edge.bad_hostport': ['`hostports: [shop.test]`', 'Write a name and a port: shop.test:443'],
  'edge.duplicate_hostport': [
    'shop.test:443 at two edges',
    'Keep it at one edge, and put the routes of both there',
  ],
  'edge.internal_termination': [
    'A TLS edge with the host db.internal that terminates TLS',
    'Remove the termination, or give the edge a public host',
  ],
  'edge.bad_match': [
    '`match: https://shop.test/admin`',
    'Write a path, a host, or a host and a path: shop.test/admin',
  ],
  'edge.duplicate_route': [
    'Two routes with `match: /api` and the same `match_type`',
    'Join them, or make one more specific',
  ],
  'edge.certificate_expired': [
    'A certificate that was valid until last week',
    'Replace it; `edgeproof cert HOST` issues one for this machine',
  ],
  'edge.several_logins': [
    'A route with `oauth` and `oidc`',
    'Keep one, or put the other on a route of its own',
  ],
  'edge.bad_cidr': [
    '`cidr: 10.0.0.1/8`',
    'Write the network and its mask: 10.0.0.0/8, or 10.0.0.1/32 for one address',
  ],
  'edge.duplicate_cidr': ['10.0.0.0/8 twice in one policy', 'Remove one of the rules'],
  'edge.bad_header': [
    '`add: { content-length: "0" }`',
    'Leave out headers that the edge sets itself; a value is one line of Latin letters',
  ],
  'edge.unreadable_file': [
    '`traffic_policy: { file: polcy.yml }`',
    'Correct the path; it is relative to the file that names it',
  ],
  'edge.bad_include': [
    'A file that includes itself',
    'Remove the repeated name; only the edge file includes others',
  ],
  'edge.duplicate_definition': ['The backend `app` in two files', 'Keep one of them, or rename the other'],
  'edge.policy_form': ['`traffic_policy` with `file` and `value`', 'Keep one form'],
  'edge.missing_variable': [
    '`${env:API_KEY}` where API_KEY is not set',
    'Set the variable, or write a default: ${env:API_KEY:-none}',
  ],
  'edge.bad_reference': [
    '`${API_KEY}` instead of `${env:API_KEY}`',
    'Write the kind before the name: env or file',
  ],
  'edge.no_edges': ['`edges: { https: {} }`', 'Add an edge with hostports and routes'],
  'edge.no_routes': ['An edge with hostports only', 'Add a route with a match and a backend'],
  'edge.route_without_backend': [
    'A route with only `match_type` and `match`',
    'Add a backend, or a policy that responds itself',
  ],
  'edge.edge_without_backend': ['A TCP edge with hostports only', 'Add `backend: { backend_id: … }`'],
  'edge.unused_certificate_authority': [
    'An authority that no mutual TLS module names',
    'Use it, or remove it',
  ],
  'edge.unreachable_host': [
    '`match: blog.test/` at an edge of shop.test',
    'Add the host to `hostports`, or correct the match',
  ],
  'edge.open_slash': [
    'A login for `match: /admin` with `match_type: exact_path`, beside an open route for `/`',
    'Use `match_type: path_prefix`, or add a route for `/admin/` with the same gate',
  ],
  'edge.literal_wildcard': [
    '`match: /api/*`, or `/users/:id`',
    'Use `match_type: path_prefix` with the part before it',
  ],
  'edge.unused_backend': ['A backend `old` that no route names', 'Use it, or remove it'],
  'edge.unused_ip_policy': ['A policy `office` that no route names', 'Use it, or remove it'],
  'edge.backend_without_choice': [
    'A weighted backend in which every weight is 0',
    'Give one child a weight above 0',
  ],
  'edge.body_not_sent': [
    '`http_response: { status_code: 204, body: done }`',
    'Remove the body, or use another status, such as 200',
  ],
};
