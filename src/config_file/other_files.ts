/**
 * Files that are given by mistake: those of other tools, and parts of our own that lack what is around them. Each is known by
 * keys at its top that our files do not have together, or by its text if that is not a map.
 */
export interface OtherFile {
  /** With its article. */
  readonly called: string;
  readonly cure: string;
}

interface MapSignature extends OtherFile {
  /** Keys at the top, all of which it has. */
  readonly keys: readonly [string, ...string[]];
  /** What its text has, besides the keys. */
  readonly text?: RegExp;
}

const AS_ROUTES =
  'write its hosts and paths as routes of an edge file; `edgeproof init` writes one to begin with';
const REPLAYED = 'a log is replayed, not checked: edgeproof replay FILE --edge edge.yaml';
const NAME_OURS = 'name an edge file, a policy or a scenario file; `edgeproof init` writes one of each';

// table: signatures of files
const MAPS: readonly MapSignature[] = [
  {
    called: 'a Kubernetes manifest with a traffic policy',
    keys: ['apiVersion', 'kind'],
    text: /^kind:\s*["']?\w*TrafficPolicy\b|"kind":\s*"\w*TrafficPolicy"/m,
    cure: 'copy what is below `policy` to a file of its own',
  },
  { called: 'a Kubernetes manifest', keys: ['apiVersion', 'kind'], cure: AS_ROUTES },
  {
    called: 'a Docker Compose file',
    keys: ['services'],
    text: /^\s+["']?(?:image|build)["']?\s*:|"(?:image|build)"\s*:/m,
    cure: 'the ports of its services can be backends of an edge file; `edgeproof init` writes one to begin with',
  },
  { called: 'an OpenAPI description', keys: ['openapi', 'paths'], cure: AS_ROUTES },
  { called: 'an OpenAPI description', keys: ['swagger', 'paths'], cure: AS_ROUTES },
  { called: 'a package.json', keys: ['name', 'dependencies'], cure: NAME_OURS },
  { called: 'a package.json', keys: ['name', 'devDependencies'], cure: NAME_OURS },
  { called: 'a package.json', keys: ['name', 'scripts'], cure: NAME_OURS },
  { called: 'a lock file', keys: ['lockfileVersion'], cure: NAME_OURS },
  { called: 'a tsconfig.json', keys: ['compilerOptions'], cure: NAME_OURS },
  ...['tunnels', 'endpoints', 'agent', 'authtoken'].map((key): MapSignature => ({
    called: 'the configuration of an agent',
    keys: ['version', key],
    cure: 'an agent reads it: start `edgeproof dev --agents`, and set its server_addr to the address that is printed',
  })),
  { called: 'an HTTP archive (HAR)', keys: ['log'], text: /"entries"\s*:/, cure: REPLAYED },
  {
    called: 'a Postman collection',
    keys: ['info', 'item'],
    cure: 'its requests can be replayed as curl command lines: edgeproof replay FILE --edge edge.yaml',
  },
  {
    called: 'a GitHub Actions workflow',
    keys: ['on', 'jobs'],
    cure: 'a step of it runs edgeproof, such as `npx edgeproof check edge.yaml`',
  },
  { called: 'an Envoy configuration', keys: ['static_resources'], cure: AS_ROUTES },
  { called: 'a Traefik configuration', keys: ['entryPoints'], cure: AS_ROUTES },
  { called: 'a Traefik configuration', keys: ['http'], text: /\brouters["']?\s*:/, cure: AS_ROUTES },
  { called: 'a Kong configuration', keys: ['_format_version'], cure: AS_ROUTES },
  { called: 'a Prometheus configuration', keys: ['scrape_configs'], cure: NAME_OURS },
  { called: 'a Caddy configuration', keys: ['apps'], text: /"http"\s*:/, cure: AS_ROUTES },
  { called: 'a Terraform configuration', keys: ['terraform'], cure: AS_ROUTES },
  { called: 'a Terraform configuration', keys: ['resource'], cure: AS_ROUTES },
  {
    called: 'a rule without its phase',
    keys: ['actions'],
    cure: 'write `on_http_request:` above it, and begin the rule with a dash and a space',
  },
  {
    called: 'an action without its rule',
    keys: ['type', 'config'],
    cure: 'write `on_http_request:` and `- actions:` above it, and begin it with a dash and a space',
  },
];

const TEXTS: readonly (OtherFile & { readonly text: RegExp })[] = [
  {
    called: 'a list of rules without their phase',
    text: /^\s*-\s+(?:name:[^\n]*\n\s+)?(?:expressions|actions):/,
    cure: 'write `on_http_request:` above the list',
  },
  {
    called: 'a list of actions without their rule',
    text: /^\s*-\s+type:/,
    cure: 'write `on_http_request:` and `- actions:` above the list, and indent it',
  },
  {
    called: 'an HTML page',
    text: /^\s*<(?:!doctype html|html)\b/i,
    cure: 'download the file itself, and not the page that shows it',
  },
  {
    called: 'an XML document',
    text: /^\s*<\?xml\b/,
    cure: 'metadata of a SAML provider belongs in `idp_metadata`, also as ${file:PATH}',
  },
  {
    called: 'a certificate or key in PEM',
    text: /^\s*-----BEGIN [A-Z ]+-----/,
    cure: 'an edge file names it in `tls_certificates` or `certificate_authorities`',
  },
  { called: 'a log of events', text: /^\s*\{"[^\n]*\}\n\s*\{"/, cure: REPLAYED },
  { called: 'an access log', text: /^\S+ \S+ \S+ \[\d+\/\w+\/\d+:[^\]]+\] "/, cure: REPLAYED },
  { called: 'a Dockerfile', text: /^(?:#[^\n]*\n|\s*\n)*FROM\s+\S+/, cure: NAME_OURS },
  { called: 'an HAProxy configuration', text: /^(?:frontend|backend|listen)\s+\S+\s*$/m, cure: AS_ROUTES },
  {
    called: 'an nginx configuration',
    text: /^\s*(?:server|http|events|upstream\s+\S+)\s*\{[\s\S]*;/,
    cure: AS_ROUTES,
  },
  {
    called: 'a Terraform configuration',
    text: /^\s*(?:resource|provider|terraform|variable)\s+(?:"[^"]*"\s*)*\{/m,
    cure: AS_ROUTES,
  },
  {
    called: 'a Caddyfile',
    text: /^\s*(?:reverse_proxy|file_server|php_fastcgi|encode)(?:[ \t]+[^:\s]|[ \t]*$)/m,
    cure: AS_ROUTES,
  },
  {
    called: 'a file of environment variables',
    text: /^(?:#[^\n]*\n|\s*\n)*(?:export )?[A-Z_][A-Z0-9_]*=/,
    cure: 'set them for the process; an edge file reads them as ${env:NAME}',
  },
  {
    called: 'a file in TOML',
    text: /^\s*\[[\w."-]+\]\s*\n(?:[^\n]*\n)*?[\w.-]+\s*=/,
    cure: 'write it in YAML or JSON; `edgeproof init` writes a file to begin with',
  },
  { called: 'a shell script', text: /^#!/, cure: NAME_OURS },
];

/** What a map with these keys at its top is, if it is of another kind. */
export function otherMap(
  keys: readonly string[],
  text: string,
): (OtherFile & { readonly key: string }) | null {
  const has = new Set(keys);
  const found = MAPS.find(
    (each) => each.keys.every((key) => has.has(key)) && (each.text === undefined || each.text.test(text)),
  );
  return found === undefined ? null : { ...found, key: found.keys[0] };
}

/** The same for a text that is not a map. */
export function otherText(text: string): OtherFile | null {
  const head = text.slice(0, HEAD);
  return TEXTS.find((each) => each.text.test(head)) ?? null;
}

/** Characters that are read: the beginning of a file shows what it is. */
const HEAD = 10_000;
