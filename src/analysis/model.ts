import type { Reading } from './texts/readings.ts';
import type { CompiledEdge } from '../edge/compile.ts';
import { weakMemoize } from '../caches/weak_memoize.ts';
import { type EdgeFixture, edgeFixture } from '../coverage/edge_fixture.ts';
import { partsOfBackend } from '../edge/relays.ts';
import type { Locate } from '../edge/explain.ts';
import type { EdgeConfig, HttpsEdgeConfig, RouteConfig } from '../edge/document/schema.ts';
import { type Branding, brandingOf } from '../engine/branding.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../filters/table.ts';
import { pointerTo } from '../diagnostics/diagnostic.ts';
import { heldDocument } from '../policy/document/checked_policies.ts';
import type { PolicyDocument } from '../policy/document/document.ts';
import type { TrafficPolicyConfig } from '../policy/module_schema.ts';
import { type Cidr, type CidrProblem, isCidrProblem, parseRange } from '../net/cidr.ts';
import { type AddressSet, addressesIn, complement, intersection } from './addresses.ts';
import { Atoms } from './atoms.ts';
import { clientFacts } from './client_facts.ts';
import { Diagrams } from './diagram.ts';
import { PLAIN_PATH } from '../http/readings.ts';
import type { LiteralEdit } from './texts/functions.ts';
import { patternDfa, quoted } from './fields.ts';

/** What the configurations that are compared have in common: atoms, diagrams, and short names of long texts. */
export class Analysis {
  readonly atoms = new Atoms();
  readonly diagrams: Diagrams;
  /** What the path is after the changes of a name, as a function of the path of the request. */
  readonly images = new Map<string, readonly Reading[]>();
  /** The replacements that these changes consist of. */
  readonly edits = new Map<string, readonly LiteralEdit[]>();
  /** Whether a header field is there after the changes of a name, if that is certain. */
  readonly made = new Map<string, 'absent' | 'present'>();
  readonly #names = new Map<string, string>();

  constructor(nodeLimit?: number) {
    this.diagrams = new Diagrams(nodeLimit);
  }

  /** A short name of a text; equal texts have equal names. */
  nameOf(text: string): string {
    let name = this.#names.get(text);
    if (name === undefined) this.#names.set(text, (name = `#${this.#names.size}`));
    return name;
  }
}

/** One configuration, prepared for analysis. */
export class Model {
  readonly config: EdgeConfig;
  readonly analysis: Analysis;
  readonly fixture: EdgeFixture;
  readonly compiled: CompiledEdge;
  readonly branding: Branding;
  /** What the facts of the configuration say of addresses. */
  readonly ofClient: ReturnType<typeof clientFacts>;
  readonly #facts: string;
  readonly #logins: string;
  readonly #selectors = new Map<string, string>();
  #routeNames: ReadonlyMap<string, string> | undefined;
  #circumstances: string | undefined;

  constructor(
    config: EdgeConfig,
    analysis: Analysis,
    locate: Locate = () => null,
    fixture: EdgeFixture = edgeFixture(config, locate),
  ) {
    this.config = config;
    this.analysis = analysis;
    this.fixture = fixture;
    this.branding = brandingOf(config.service_name, config.underscore_headers);
    this.compiled = this.fixture.fresh();
    this.ofClient = clientFacts(config);
    const { facts, address_databases: databases } = config;
    const isKnown = facts !== undefined || databases.length > 0;
    this.#facts = isKnown ? analysis.nameOf(canonical([facts, databases])) : '';
    const logins = loginsOf(config);
    this.#logins = logins === '' ? '' : analysis.nameOf(logins);
  }

  /** The policy of a module at `pointer`; null if it has errors. */
  policyOf(
    config: TrafficPolicyConfig,
    pointer: string,
    attachedTo: 'https_edge' | 'tls_edge' = 'https_edge',
  ): PolicyDocument | null {
    return heldDocument(config, { at: pointerTo(pointer, 'value'), attachedTo, branding: this.branding });
  }

  /** Identifies all logins of the configuration; empty without one. */
  get logins(): string {
    return this.#logins;
  }

  /**
   * Identifies a route among those of the file, so that what it counts is known to be counted for the same requests:
   * equal limits of two routes are two limits.
   */
  routeName(pointer: string): string {
    this.#routeNames ??= new Map(
      this.compiled.https.flatMap(({ name, pipelines }) => {
        const { hostports = [], routes = [] } = this.config.edges.https[name] ?? {};
        const [host = ''] = hostports.toSorted();
        return pipelines.map((each, at): [string, string] => {
          const { match = '', match_type: type = '' } = routes[at] ?? {};
          return [each.pointer, canonical([host, type, match])];
        });
      }),
    );
    return this.#routeNames.get(pointer) ?? pointer;
  }

  /** Identifies the naming of the service, which is part of every response of the edge itself. */
  get naming(): string {
    const { service_name: service, underscore_headers: underscores } = this.config;
    return `${service} ${underscores ?? ''}`;
  }

  /** Identifies what an expression or template may know besides the exchange. */
  surroundings(text: string, endpoint: string): string {
    const parts: string[] = [];
    if (this.#facts !== '') parts.push(`facts ${this.#facts}`);
    if (/\bendpoint\b/.test(text)) parts.push(`endpoint ${endpoint}`);
    if (this.#logins !== '' && /cookie|header/i.test(text)) parts.push(`logins ${this.#logins}`);
    return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
  }

  /** The addresses that are allowed: in an allowed range, and in no denied one. Null if a range is a template. */
  allowed(type: 'module' | 'action', name: string, config: unknown): AddressSet | null {
    const facts = type === 'module' ? MODULE_FACTS.get(name) : ACTION_FACTS.get(name);
    const lists = facts?.addressLists?.(config as never);
    if (lists === undefined) return null;
    const rules = lists.policies.flatMap((id) => this.config.ip_policies[id]?.rules ?? []);
    const rangesOf = (action: 'allow' | 'deny') =>
      [...lists[action], ...rules.filter((rule) => rule.action === action).map(({ cidr }) => cidr)].map(
        (text) => parseRange(text.trim()),
      );
    const allow = wellFormed(rangesOf('allow'));
    const deny = wellFormed(rangesOf('deny'));
    if (allow === null || deny === null) return null;
    return intersection(addressesIn(allow), complement(addressesIn(deny)));
  }

  /**
   * Identifies everything outside of a route that its outcomes may depend on. Routes with equal modules in equal
   * circumstances have equal outcomes.
   */
  get circumstances(): string {
    return (this.#circumstances ??= this.analysis.nameOf(
      canonical([
        this.naming,
        this.#facts,
        this.#logins,
        ...[this.config.ip_policies, this.config.backends, this.config.certificate_authorities].map((part) =>
          this.analysis.nameOf(canonicalPart(part)),
        ),
      ]),
    ));
  }

  /** Identifies the selectors of an edge: edges with equal ones refuse the same paths as ambiguous. */
  selectors(edgeName: string): string {
    let name = this.#selectors.get(edgeName);
    if (name === undefined) {
      const routes = this.config.edges.https[edgeName]?.routes ?? [];
      const selectors = routes.map(({ match, match_type: type }) => `${type} ${match}`);
      this.#selectors.set(edgeName, (name = this.analysis.nameOf(canonical(selectors.toSorted()))));
    }
    return name;
  }

  /** Identifies a backend with all that it consists of. */
  backend(id: string): string {
    return canonical(this.backendNames(id).map((name) => [name, whatCounts(this.config.backends[name])]));
  }

  /** A backend, and all that it consists of. */
  backendNames(id: string): readonly string[] {
    return partsOfBackend(this.config, id);
  }
}

/** A backend without notes and without TLS that is switched off, which is as good as absent. */
function whatCounts(backend: EdgeConfig['backends'][string] | undefined): object {
  const { static: address } = backend ?? {};
  const plain = address?.tls?.enabled === false ? { static: { ...address, tls: undefined } } : {};
  return { ...backend, ...plain, description: undefined, metadata: undefined };
}

function wellFormed(ranges: readonly (Cidr | CidrProblem)[]): readonly Cidr[] | null {
  const good = ranges.flatMap((range) => (isCidrProblem(range) ? [] : [range]));
  return good.length === ranges.length ? good : null;
}

/** The modules of a route, and of its edge, in the order in which they run. */
export function modulesOf(
  edge: HttpsEdgeConfig,
  route: RouteConfig,
): readonly { readonly type: string; readonly config: object }[] {
  return Array.from(MODULE_FACTS.values()).flatMap(({ type, place }) => {
    const holder = (place === 'edge' ? edge : route) as Readonly<Record<string, unknown>>;
    const config = holder[type] as { readonly enabled: boolean } | undefined;
    return config?.enabled === true ? [{ type, config }] : [];
  });
}

/** The configs of all logins: their cookies are hidden from expressions. */
function loginsOf({ edges }: EdgeConfig): string {
  const logins: unknown[] = [];
  for (const [name, edge] of Object.entries(edges.https)) {
    for (const [index, route] of edge.routes.entries()) {
      for (const { type, config } of modulesOf(edge, route)) {
        const facts = MODULE_FACTS.get(type)!;
        const text = facts.runsActions === true ? canonical(config) : '';
        const hasLogin = LOGIN_ACTIONS.some((action) => text.includes(action));
        if (facts.login === true || hasLogin) logins.push([name, index, route.match, type, config]);
      }
    }
  }
  return logins.length === 0 ? '' : canonical(logins);
}

const LOGIN_ACTIONS = Array.from(ACTION_FACTS.values()).flatMap(({ type, login }) =>
  login === true ? [type] : [],
);

/** A value as JSON with sorted keys; for an object that never changes see `canonicalPart`. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((each: unknown) => canonical(each ?? null)).join()}]`;
  if (typeof value !== 'object' || value === null || 'toJSON' in value)
    return JSON.stringify(value) ?? 'null';
  const members = value as Readonly<Record<string, unknown>>;
  const parts: string[] = [];
  for (const name of Object.keys(members).sort()) {
    const member = members[name];
    if (member !== undefined) parts.push(`${JSON.stringify(name)}:${canonical(member)}`);
  }
  return `{${parts.join()}}`;
}

/** `canonical` of a part of an accepted configuration, made once. */
export const canonicalPart = weakMemoize<object, string>(canonical);

/** Paths that can only be read in one way. */
export const PLAIN_PATHS = patternDfa(
  PLAIN_PATH.source.replace(/^\^/, String.raw`\A`).replace(/\$$/, String.raw`\z`),
)!;
export const ENDS_WITH_SLASH = patternDfa(String.raw`./\z`)!;

/** The atom of paths that begin with a text. */
export function pathPrefix({ analysis }: Model, prefix: string) {
  return analysis.atoms.text('path', patternDfa(`\\A${quoted(prefix)}`)!, `the path begins with '${prefix}'`);
}
