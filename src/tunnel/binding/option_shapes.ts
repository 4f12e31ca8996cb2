import type { BindKind } from './bind_request.ts';
import { BAD_OPTIONS } from './endpoint_policy.ts';
import type { Members, Refusal } from './members.ts';

/** Members of modules that are lists. */
type Lists = readonly string[];

/** Those whose elements are objects, not texts. */
const OF_OBJECTS: ReadonlySet<string> = new Set(['credentials', 'inbound', 'outbound']);

const OF_ALL: Readonly<Record<string, Lists>> = {
  IPRestriction: ['allow_cidrs', 'deny_cidrs'],
  Policy: ['inbound', 'outbound'],
};
const LOGIN: Lists = ['allow_emails', 'allow_domains', 'scopes'];
const HEADERS: Lists = ['add', 'remove'];

// table: the modules that the kinds of endpoints have
const MODULES: Readonly<Record<BindKind, ReadonlyMap<string, Lists>>> = {
  https: byName({
    ...OF_ALL,
    BasicAuth: ['credentials'],
    CircuitBreaker: [],
    Compression: [],
    MutualTLSCA: [],
    OAuth: LOGIN,
    OIDC: LOGIN,
    RequestHeaders: HEADERS,
    ResponseHeaders: HEADERS,
    UserAgentFilter: ['allow', 'deny'],
    WebhookVerification: [],
    WebsocketTCPConverter: [],
  }),
  tls: byName({ ...OF_ALL, MutualTLSAtEdge: [], TLSTermination: [] }),
  tcp: byName(OF_ALL),
};
/** Other options that close an endpoint. */
const TEXTS = ['Auth', 'TrafficPolicy'];

/** Options have names in any case. */
function byName(modules: Readonly<Record<string, Lists>>): ReadonlyMap<string, Lists> {
  return new Map(Object.entries(modules).map(([name, lists]) => [name.toLowerCase(), lists]));
}

/**
 * Refuses a module that this edge does not have, and an option of another type than the protocol's: what is ignored may
 * leave an endpoint more open than its agent wants.
 */
export function misshapenOption(kind: BindKind, opts: Members): Refusal | null {
  const known = MODULES[kind];
  for (const [name, value] of Object.entries(opts.value)) {
    if (value === null) continue;
    const lists = known.get(name.toLowerCase());
    const shown = name.slice(0, 40);
    const module = opts.object(name);
    if (lists === undefined && module !== null)
      return refused(`Endpoints of ${kind} have no option '${shown}' here.`);
    if (lists !== undefined && module === null) return refused(`The option '${shown}' is not an object.`);
    const broken = lists?.find((list) => !module!.isListOrAbsent(list));
    if (broken !== undefined) return refused(`The option '${shown}' has '${broken}', which is not a list.`);
    const mixed = lists?.find((list) => !module!.hasOnly(list, elementsOf(list)));
    if (mixed !== undefined)
      return refused(`The option '${shown}' has '${mixed}', which is not a list of ${elementsOf(mixed)}.`);
  }
  const other = TEXTS.find((name) => !opts.isTextOrAbsent(name));
  return other === undefined ? null : refused(`The option '${other}' is not a text.`);
}

function elementsOf(list: string): 'texts' | 'objects' {
  return OF_OBJECTS.has(list) ? 'objects' : 'texts';
}

function refused(message: string): Refusal {
  return { number: BAD_OPTIONS, message };
}
