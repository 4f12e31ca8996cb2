/**
 * Who may import whom: the table of the architecture (docs/architecture.md). A room is a folder of `src`, a part of
 * one that has rights of its own, or a single file. Whatever is not listed is forbidden; a room may always import
 * itself. The right to a folder does not include its parts: they are listed by name.
 */

const LEAVES = ['caches', 'datetime', 'http', 'net', 'crypto', 'regex', 'diagnostics'];
const LANGUAGE = ['cel', 'policy/env'];
/** Everything that decides about traffic and knows no configuration file. */
const DECIDING = [...LEAVES, ...LANGUAGE, 'facts', 'engine', 'filters/*', 'auth', 'webhooks', 'schemas'];
/** What the faces of filters share. */
const FACES = [...DECIDING, 'filters'];
const CONFIGURATION = [
  ...FACES,
  'faces',
  'filters/actions.ts',
  'filters/modules.ts',
  'config_file',
  'policy',
  'edge/document',
  'edge',
];
/** The live side of the engine: drivers, and what they ask. */
const LIVE = [...LEAVES, 'loading', 'engine', 'engine/drivers', 'io', 'clients'];
const CONTROL = ['control/resources', 'control/store', 'control/api'];

export const ANYTHING = 'anything';

// table: rooms and what they may import
export const ROOMS: Readonly<Record<string, readonly string[] | typeof ANYTHING>> = {
  // What was made of an object, for as long as the object is.
  caches: [],
  datetime: [],
  http: ['caches'],
  net: [],
  // `node:crypto` is loaded at its first use.
  crypto: ['loading'],
  regex: [],
  diagnostics: [],
  // Loads code when it is first needed.
  loading: [],
  // Reads a text into a tree whose parts know their places, and checks its shape: for files of all kinds.
  config_file: ['caches', 'diagnostics'],
  // The expression language; it knows no edge.
  cel: LEAVES,
  'policy/env/certificates.ts': [...LEAVES, 'cel'],
  // Variables and functions of expressions; results of actions are declared by their facts.
  'policy/env': [...LEAVES, 'loading', 'cel', 'facts', 'policy/env/certificates.ts'],
  // What is known of filters, as data: files called `facts.ts`, `…_facts.ts` or `check.ts`, their contract and their table.
  facts: [
    ...LEAVES,
    'cel',
    'policy/env/certificates.ts',
    'engine',
    'filters/*',
    'auth',
    'webhooks',
    'schemas',
  ],
  // `crypto` gives the type of a certificate's facts.
  engine: ['caches', 'http', 'net', 'crypto', 'diagnostics'],
  // Algorithms of filters: values in, values out.
  'filters/*': LEAVES,
  webhooks: LEAVES,
  // A login is a conversation with the world: alone of the filters it asks the engine's questions by itself.
  auth: [...LEAVES, 'loading', 'engine', 'filters/*'],
  // Files called `schema.ts` or `…_schema.ts` of filters, auth and webhooks. Types come from them; nothing that
  // runs imports them.
  schemas: [...LEAVES, 'filters/*', 'auth', 'webhooks'],
  // The contract of actions, and what several faces share.
  filters: DECIDING,
  // Files called `module*.ts` or `action*.ts`: what a filter is on a route or an edge, and in a policy. A face of one
  // filter does not import a face of another.
  faces: FACES,
  // Lists of the faces of the filters of the table.
  'filters/actions.ts': [...FACES, 'faces'],
  // Documents, rules and their run; its `module*.ts` are the face of policies on a route or an edge.
  policy: [...FACES, 'config_file', 'faces', 'filters/actions.ts'],
  'filters/modules.ts': [...FACES, 'faces', 'policy'],
  // What an edge file may contain: the management API keeps the same.
  'edge/document': [...FACES, 'faces', 'config_file', 'policy'],
  edge: [
    ...FACES,
    'faces',
    'filters/actions.ts',
    'filters/modules.ts',
    'config_file',
    'policy',
    'edge/document',
  ],
  // What processes and nodes share, with the algorithms of a single process.
  shared_state: [...LEAVES, 'engine', 'auth', 'filters/*', 'clients'],
  events: [...LEAVES, ...LANGUAGE, 'loading', 'engine'],
  // Bytes and bodies: no protocol.
  io: [...LEAVES, 'loading', 'engine'],
  // Outgoing requests of the edge itself.
  clients: [...LEAVES, 'loading', 'engine', 'io'],
  'engine/drivers': [...LEAVES, 'engine', 'io', 'clients'],
  http2: LIVE,
  // Its client of upstreams hands requests for HTTP/2 backends to `http2`.
  http1: [...LIVE, 'http2'],
  server: [...LIVE, 'http1', 'http2'],
  dev_idp: [...LEAVES, 'engine', 'auth'],
  // The framing of agents' sessions: bytes and streams.
  'tunnel/mux': ['io'],
  // What agents bind, as parts of a configuration: live and simulated.
  'tunnel/binding': CONFIGURATION,
  // Sessions of agents.
  tunnel: [...CONFIGURATION, 'io', 'server', 'tunnel/mux', 'tunnel/binding'],
  // What can be said of all requests; its witnesses are run through the engine.
  analysis: [...CONFIGURATION, 'engine/drivers', 'coverage', 'proof', 'reports'],
  // Checks what the analysis claims, and shares nothing with it but the form of certificates.
  proof: [...CONFIGURATION, 'engine/drivers'],
  // HTML reports of verbs: what they contain, as data, and the page that has it in it.
  reports: ['http', 'edge'],
  'reports/ui': ['reports', 'pages'],
  coverage: [...CONFIGURATION, 'events', 'dev_idp', 'reports'],
  simulator: [
    ...CONFIGURATION,
    'reports',
    'engine/drivers',
    'events',
    'dev_idp',
    'analysis',
    'coverage',
    'shared_state',
    'tunnel/binding',
  ],
  // Measures what the rooms below decide; it has a clock of its own.
  benchmark: [...CONFIGURATION, 'engine/drivers', 'events', 'simulator', 'reports'],
  replay: [...CONFIGURATION, 'engine/drivers', 'events', 'simulator', 'reports'],
  'control/resources': [...LEAVES, 'schemas', 'facts', 'auth', 'policy', 'edge/document'],
  'control/store': [...LEAVES, 'loading', 'control/resources'],
  'control/api': [
    ...LEAVES,
    ...LANGUAGE,
    'facts',
    'edge/document',
    'events',
    'control/resources',
    'control/store',
  ],
  // The composition root of the management API.
  control: [
    ...CONFIGURATION,
    'analysis',
    'events',
    'io',
    'clients',
    'tunnel',
    'tunnel/binding',
    ...CONTROL,
    'edgeproof.ts',
  ],
  // Twins of Node's modules for pages; they read DER as `crypto` does.
  browser: ['crypto'],
  // The engine in a page.
  playground: [...CONFIGURATION, 'simulator', 'project_files', 'browser', 'pages'],
  // What pages share; they show what they are given, whose types come from where it is made.
  mcp: [],
  // What editors need of a text that is being typed: its tree, names, completion.
  editing: [...CONFIGURATION, 'analysis', 'simulator', 'project_files'],
  // The same for editors of any kind, over their protocol.
  lsp: [...CONFIGURATION, 'simulator', 'coverage', 'replay', 'project_files', 'editing', 'analysis'],
  pages: ['diagnostics', 'edge', 'replay', 'inspector'],
  'inspector/ui': ['diagnostics', 'replay', 'inspector', 'pages'],
  // Live traffic on a page of this machine.
  inspector: [
    ...CONFIGURATION,
    'engine/drivers',
    'events',
    'analysis',
    'coverage',
    'simulator',
    'replay',
    'project_files',
    'editing',
    // Binds a port and answers with the files of a page.
    'server',
    // Sends a request again.
    'io',
    'http1',
    // What answers a page is loaded when one is opened.
    'loading',
  ],
  // Applications as upstreams of the live driver.
  integrations: LIVE,
  // Reads, checks and runs the files that a user names, for the command line and for test runners.
  project_files: [...CONFIGURATION, 'events', 'analysis', 'coverage', 'simulator', 'reports'],
  // What other test runners are given.
  'integrations/testing': [...CONFIGURATION, 'events', 'simulator', 'project_files', 'edgeproof.ts'],
  cli: ANYTHING,
  'edgeproof.ts': ANYTHING,
  'definitions.ts': ANYTHING,
  'decision.ts': ANYTHING,
  'edge_options.ts': ANYTHING,
  'reporting.ts': ANYTHING,
  'listen_options.ts': ANYTHING,
  // The part of the composition root that only those load who listen.
  'listening.ts': ANYTHING,
  'listening_inspected.ts': ANYTHING,
  'listening_streams.ts': ANYTHING,
  'index.ts': ANYTHING,
};

/** Parts of a folder, and single files, with rights of their own. */
const PARTS = Object.keys(ROOMS).filter((name) => name.includes('/') && !name.endsWith('*'));
/** Folders in which files that are named so are schemas and faces. */
const WITH_FACES = /^(?:filters|auth|webhooks)\//;
const SCHEMA = /(?:^|[/_])schemas?\.ts$/;
const FACTS =
  /^src\/(?:filters\/(?:table|phase|duration|fact_values|result_types|field_checks)|policy\/facts|(?:filters|auth|webhooks)\/(?:.*[/_])?(?:facts|check))\.ts$/;
const FACE = /\/(?:module|action)(?:_\w+)?\.ts$/;

/** The room of a file below `src/`, and the sibling that it is, where it is one. */
export interface Place {
  readonly room: string;
  readonly sibling: string | null;
}

/** Where a path stands; null outside of `src`. */
export function placeOf(path: string): Place | null {
  if (!path.startsWith('src/')) return null;
  const inside = path.slice('src/'.length);
  if (FACTS.test(path)) return { room: 'facts', sibling: null };
  if (inside === 'policy/module_schema.ts') return { room: 'schemas', sibling: null };
  const part = PARTS.find((name) => inside === name || inside.startsWith(`${name}/`));
  if (part !== undefined) return { room: part, sibling: null };
  const parts = inside.split('/');
  if (WITH_FACES.test(inside)) {
    // Files right inside `filters` are what the faces share.
    const isShared = parts[0] === 'filters' && parts.length === 2;
    if (SCHEMA.test(inside)) return { room: 'schemas', sibling: null };
    if (isShared) return { room: 'filters', sibling: null };
    if (FACE.test(inside)) return { room: 'faces', sibling: parts[0] === 'filters' ? parts[1]! : parts[0]! };
    if (parts[0] === 'filters') return { room: 'filters/*', sibling: null };
  }
  return { room: parts[0]!, sibling: null };
}

/** Whether one room may import another. */
export function mayImport(from: string, to: string): boolean {
  const allowed = ROOMS[from] ?? [];
  return allowed === ANYTHING || from === to || allowed.includes(to);
}
