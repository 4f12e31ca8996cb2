/**
 * Who may import whom: the table of the architecture. A room is a folder of `src`, or a part of one where the parts
 * have rights of their own. Whatever is not listed is forbidden; a room may always import itself and its parts.
 */

const VOCABULARY = ['calendar', 'http', 'net', 'crypto', 'regex', 'diagnostics'];
const DECIDING = [...VOCABULARY, 'expression', 'mechanisms', 'engine'];
const CONFIGURATION = [...DECIDING, 'document', 'modules', 'policy', 'edge'];

export const ANYTHING = 'anything';

// table: rooms and what they may import
export const ROOMS: Readonly<Record<string, readonly string[] | typeof ANYTHING>> = {
  calendar: [],
  http: [],
  net: [],
  crypto: [],
  regex: [],
  diagnostics: [],
  // Reading a text into a tree whose parts know their places, and comparing it with its shape: for files of all kinds.
  document: ['diagnostics'],
  wire: ['http'],
  expression: VOCABULARY,
  mechanisms: VOCABULARY,
  // A login is a conversation with the world: alone of the mechanisms it speaks the engine's questions.
  'mechanisms/login': [...VOCABULARY, 'mechanisms', 'engine'],
  // What a certificate says is told by `crypto`, as a type.
  engine: ['http', 'net', 'crypto', 'diagnostics'],
  // The root of `modules` is the table and what all modules share; each module is a room without siblings.
  modules: DECIDING,
  // A traffic policy is a module of a route, and a language of its own.
  'modules/*': [...DECIDING, 'modules', 'policy'],
  policy: [...DECIDING, 'document'],
  'policy/actions/*': [...DECIDING, 'policy'],
  // What an edge file may say: the management API keeps the same.
  'edge/document': [...DECIDING, 'document', 'modules'],
  edge: [...DECIDING, 'document', 'modules', 'policy'],
  resources: [...VOCABULARY, 'modules', 'policy', 'edge/document'],
  store: [...VOCABULARY, 'resources'],
  events: [...VOCABULARY, 'engine', 'expression'],
  api: [...VOCABULARY, 'expression', 'resources', 'store', 'events'],
  answers: [...VOCABULARY, 'engine', 'wire'],
  proxy: [...VOCABULARY, 'engine', 'wire', 'answers'],
  tunnel: [...VOCABULARY, 'engine', 'wire', 'answers'],
  development_idp: [...VOCABULARY, 'engine', 'mechanisms'],
  simulator: [...CONFIGURATION, 'events', 'development_idp'],
  analysis: [...CONFIGURATION, 'events'],
  // Measures what the rooms below decide; it has a clock of its own.
  benchmark: [...CONFIGURATION, 'events', 'simulator'],
  recorder: [...CONFIGURATION, 'events', 'simulator'],
  inspector: [...CONFIGURATION, 'events', 'recorder'],
  // Applications as upstreams of the live driver.
  adapters: [...VOCABULARY, 'engine', 'answers', 'proxy', 'simulator'],
  // What other test runners are given: it reads scenario files as the command does.
  testing: ANYTHING,
  cli: ANYTHING,
  'edgeproof.ts': ANYTHING,
  // The part of the composition root that only those load who listen.
  'listening.ts': ANYTHING,
  'index.ts': ANYTHING,
};

/** Parents whose children are rooms without siblings; files right inside them belong to the parent. */
const FAMILIES = ['modules', 'policy/actions'];
/** Parts of a folder with rights of their own. */
const PARTS = ['edge/document', 'mechanisms/login'];

/** The room of a file below `src/`, and the sibling that it is, where it is one. */
export interface Place {
  readonly room: string;
  readonly sibling: string | null;
}

/** Where a path stands; null outside of `src`. */
export function placeOf(path: string): Place | null {
  if (!path.startsWith('src/')) return null;
  const inside = path.slice('src/'.length);
  for (const family of FAMILIES) {
    const below = inside.startsWith(`${family}/`) ? inside.slice(family.length + 1) : '';
    if (below.includes('/')) return { room: `${family}/*`, sibling: below.slice(0, below.indexOf('/')) };
  }
  const part = PARTS.find((name) => inside.startsWith(`${name}/`));
  return { room: part ?? inside.split('/')[0]!, sibling: null };
}

/** Whether one room may import another; the right to a folder covers its parts and its children. */
export function mayImport(from: string, to: string): boolean {
  const allowed = ROOMS[from] ?? [];
  return allowed === ANYTHING || [from, ...allowed].some((name) => to === name || to.startsWith(`${name}/`));
}
