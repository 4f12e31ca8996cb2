import { ACTION_FACTS, MODULE_FACTS } from '../../src/filters/table.ts';
import { isNode, lineOf } from './tree.ts';
import type { Breach, Node, Rule, SourceFile, Tree } from './tree.ts';

/** The generated lists of filters, and the examples of policies for each error number. */
const LISTS =
  /^src\/(?:filters\/(?:table|actions|modules|action_schemas|module_schemas)|policy\/codes\/documents\/\w+)\.ts$/;

const TYPES = [...MODULE_FACTS.keys(), ...ACTION_FACTS.keys()];
/** The key of the language of policies, which has a room, and readers, of its own. */
const POLICY = 'traffic_policy';
/** Names that cannot be anything else, as a whole, as part of a code or a pointer, or as a property. */
const UNMISTAKABLE = TYPES.filter((type) => /[-_]/.test(type) && type !== POLICY);
const NAMED = new RegExp(`(?<![\\w-])(?:${UNMISTAKABLE.join('|')})(?![\\w-])|^(?:oauth|saml)$`);
const PROPERTIES: ReadonlySet<string> = new Set(UNMISTAKABLE);
/** Ordinary words too, which name a filter where they are compared with a type. */
const WORDS: ReadonlySet<string> = new Set(TYPES.filter((type) => type !== POLICY));
const OF_TYPE = /^(?:type|module)$/;

const ADVICE = 'read a fact of filters/table.ts instead, or add one to filters/facts.ts';

/** Files, or folders, that may name filters: why, and which. */
interface Exception {
  readonly path: string;
  readonly names: readonly string[];
  readonly reason: string;
}

// table: exceptions
const EXCEPTIONS: readonly Exception[] = [
  {
    path: 'src/events/',
    names: ['circuit_breaker', 'ip_restriction', 'webhook_verification', 'oauth'],
    reason: 'fields of traffic events and types of audit events are specified by these names',
  },
  {
    path: 'src/control/',
    names: ['ip_restriction'],
    reason: 'a restriction of the account is an object of this kind, and is enforced by this module',
  },
  {
    path: 'src/edge/handshakes.ts',
    names: ['tls_termination', 'mutual_tls'],
    reason: 'a listener sets up TLS before any filter runs',
  },
  {
    path: 'src/edge/document/routes_of.ts',
    names: ['tls_termination'],
    reason: 'tells the modules of an edge, and the check of its hosts, whether it terminates TLS',
  },
  {
    path: 'src/control/resources/edge_values.ts',
    names: ['tls_termination', 'terminate-tls'],
    reason: 'a cloud endpoint of TLS is an edge, which ends TLS if its policy needs that',
  },
  {
    path: 'src/tunnel/binding/endpoint_config.ts',
    names: [
      'circuit_breaker',
      'user_agent_filter',
      'webhook_verification',
      'websocket_tcp_converter',
      'request_headers',
      'response_headers',
      'ip_restriction',
      'mutual_tls',
      'tls_termination',
    ],
    reason: 'each option of an agent is one of these, by the protocol of agents',
  },
  {
    path: 'src/simulator/document/agent_',
    names: [
      'circuit_breaker',
      'request_headers',
      'response_headers',
      'user_agent_filter',
      'webhook_verification',
      'websocket_tcp_converter',
      'oauth',
    ],
    reason:
      'scenarios have the options of agents, and findings about them are at the filters that they become',
  },
  {
    path: 'src/tunnel/binding/endpoint_policy.ts',
    names: ['basic-auth', 'openid-connect'],
    reason: 'these options of an agent are actions of a policy',
  },
  {
    path: 'src/edge/saml_host.ts',
    names: ['saml'],
    reason: 'SAML routes have addresses on the host of the service, too',
  },
  {
    path: 'src/filters/ai_gateway/facts.ts',
    names: ['request_headers'],
    reason: 'a member of its result',
  },
  {
    path: 'src/filters/replacing.ts',
    names: ['request-body-find-replace', 'response-body-find-replace'],
    reason: 'both actions are made by it',
  },
];

/** Builds the rules: a filter is named by its folder only, and every exception is used. */
export function filterNames(exceptions: readonly Exception[] = EXCEPTIONS): {
  readonly filtersAreNamedAtHome: Rule;
  readonly namesAreUsed: Rule;
} {
  const used = new Set<string>();
  const isExcepted = (path: string, name: string): boolean => {
    const own = exceptions.filter((each) => path.startsWith(each.path) && each.names.includes(name));
    for (const each of own) used.add(`${each.path} ${name}`);
    return own.length > 0;
  };
  const filtersAreNamedAtHome: Rule = (tree) => {
    const homes = homesIn(tree);
    return tree.sources.flatMap((file) => {
      if (!file.path.startsWith('src/') || LISTS.test(file.path)) return [];
      const own = homes.filter(({ folder }) => file.path.startsWith(folder));
      return namesIn(file).flatMap(({ node, name }): Breach[] => {
        if (own.some(({ text }) => text.includes(`type: '${name}'`)) || isExcepted(file.path, name))
          return [];
        return [
          {
            path: file.path,
            line: lineOf(file, node.start),
            message: `names the filter '${name}'; ${ADVICE}`,
          },
        ];
      });
    });
  };
  const namesAreUsed: Rule = (tree) => {
    filtersAreNamedAtHome(tree);
    return exceptions.flatMap(({ path, names }) =>
      names
        .filter((name) => !used.has(`${path} ${name}`))
        .map((name) => ({ path, line: 1, message: `'${name}' is not named here; remove the exception` })),
    );
  };
  return { filtersAreNamedAtHome, namesAreUsed };
}

/** Folders with the facts of filters: what is below may say what they are called. */
function homesIn({ sources }: Tree): { readonly folder: string; readonly text: string }[] {
  const facts = sources.filter(({ path }) => path.endsWith('/facts.ts'));
  return facts.map(({ path, text }) => ({ folder: path.slice(0, -'facts.ts'.length), text }));
}

function namesIn({ program }: SourceFile): { node: Node; name: string }[] {
  const found: { node: Node; name: string }[] = [];
  const add = (node: Node, name: string | undefined): void => {
    if (name !== undefined) found.push({ node, name });
  };
  const visit = (node: Node): void => {
    if (/^(?:Import|ExportNamed|ExportAll)Declaration$/.test(node.type) && isNode(node['source'])) return;
    const text = textOf(node);
    // Sentences may name filters.
    if (text !== null && !/\s/.test(text)) add(node, NAMED.exec(text)?.[0]);
    const key = keyOf(node);
    // A filter may declare its counterpart.
    if (key === 'twin') return;
    if (key !== null && PROPERTIES.has(key)) add(node, key);
    if (node.type === 'BinaryExpression') add(node, comparedType(node));
    for (const child of Object.values(node).flat().filter(isNode)) visit(child);
  };
  visit(program);
  return found;
}

function textOf(node: Node): string | null {
  if (node.type === 'TemplateElement') return (node['value'] as { readonly raw: string }).raw;
  if (node.type !== 'Literal') return null;
  const regex = node['regex'] as { readonly pattern: string } | undefined;
  return regex?.pattern ?? (typeof node['value'] === 'string' ? node['value'] : null);
}

/** The name of a property that is read, or of a key that is written. */
function keyOf(node: Node): string | null {
  const key = { MemberExpression: node['property'], Property: node['key'] }[node.type];
  return isNode(key) && node['computed'] !== true && key.type === 'Identifier' ? String(key['name']) : null;
}

/** The type that something called a type is compared with: `facts.type === 'log'`. */
function comparedType({ left, right }: Node): string | undefined {
  const sides = [left, right].filter(isNode);
  const isOfType = sides.some((side) => OF_TYPE.test(nameOf(side)));
  const name = sides.map(textOf).find((text) => text !== null && WORDS.has(text) && !NAMED.test(text));
  return isOfType ? (name ?? undefined) : undefined;
}

function nameOf(node: Node): string {
  const property = node['property'];
  return String(isNode(property) ? property['name'] : (node['name'] ?? ''));
}
