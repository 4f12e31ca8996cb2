import { MISBEHAVIOURS } from '../../dev_idp/identities.ts';
import { modulesOf, placedRoutes } from '../../coverage/placed_routes.ts';
import type { Admitted, LoginTimes } from '../../filters/fact_values.ts';
import { ACTION_FACTS } from '../../filters/table.ts';
import type { ModuleFacts } from '../../filters/facts.ts';
import type { EdgeConfig } from '../../edge/document/schema.ts';
import { gatesOf, loginModuleOf, simulatedEnvironment } from '../../edge/login_config.ts';
import { loginBase } from '../../auth/action_login.ts';
import type { Signer } from '../document/requests.ts';
import type { Visitor, Before, Draft } from './draft.ts';

/** Values for testing login gates and webhook verifiers. */
export interface GatePools {
  /** A user whom every gate allows, one whom no gate with a list allows, and one for each provider fault. */
  readonly visitors: readonly Visitor[];
  /** Reserved paths of gates, and one that is not reserved. */
  readonly reserved: readonly string[];
  /** Ways of signing a request, and of damaging the signature. */
  readonly signatures: readonly Signature[];
  readonly befores: readonly Before[];
  readonly isAskedForPages: boolean;
}

/** One way of signing a request. */
interface Signature {
  /** As part of a sentence: `signed by github`. */
  readonly message: string;
  /** The signed draft; unchanged if it cannot be signed. */
  readonly on: (draft: Draft) => Draft;
}

type Actions = readonly { readonly type: string; readonly config: unknown }[];

export function gatePools(
  config: EdgeConfig,
  actions: Actions,
  { signer, texts }: { readonly signer: Signer | null; readonly texts: readonly string[] },
): GatePools {
  const gates = gatesIn(config);
  const logins = loginsIn(actions);
  const logsIn = gates.length + logins.length > 0;
  return {
    visitors: logsIn ? [...visitorsOf(gates), ...namedVisitors(texts)] : [],
    reserved: logsIn ? reservedOf(config, logins) : [],
    signatures: signer === null ? [] : signaturesOf(config, actions, signer),
    befores: [...gates, ...logins].flatMap(({ times }) => sessionBefores(times)),
    isAskedForPages: logsIn,
  };
}

/** Whether anything in a configuration requires a login: cases then have providers, even without identities. */
export function hasLogins(config: EdgeConfig): boolean {
  return (
    gatesIn(config).length > 0 ||
    placedRoutes(config).some(({ route: { traffic_policy: policy } }) =>
      LOGIN_ACTIONS.some((type) => policy?.value.includes(type)),
    )
  );
}

const LOGIN_ACTIONS = [...ACTION_FACTS.values()]
  .filter(({ login }) => login === true)
  .map(({ type }) => type);

/** A login action, by its facts. */
interface Login {
  readonly paths: readonly string[];
  readonly times: LoginTimes;
}

/** A login module, by its facts. */
interface Gate {
  readonly admitted: Admitted;
  readonly times: LoginTimes;
}

/** The login actions. A policy of several routes is there for each of them, so equal ones are one. */
function loginsIn(actions: Actions): readonly Login[] {
  const found = actions.flatMap(({ type, config }): Login[] => {
    const facts = ACTION_FACTS.get(type);
    if (facts?.login !== true) return [];
    return [{ paths: pathsOf(facts), times: facts.sessionTimes?.(config as never) ?? WITHOUT_END }];
  });
  return [...new Map(found.map((each) => [JSON.stringify(each), each])).values()];
}

/** The login modules that are enabled. */
function gatesIn(config: EdgeConfig): Gate[] {
  return modulesOf(config).flatMap(({ facts, config: own }) => {
    const { enabled }: { readonly enabled: boolean } = own;
    if (facts.login !== true || !enabled) return [];
    return [{ admitted: facts.admits?.(own) ?? {}, times: facts.sessionTimes?.(own) ?? WITHOUT_END }];
  });
}

const WITHOUT_END: LoginTimes = { mostMs: 0, within: [] };

function visitorsOf(gates: readonly Gate[]): Visitor[] {
  const listed = (key: keyof Admitted): string[] => gates.flatMap(({ admitted }) => admitted[key] ?? []);
  const [address] = listed('emails');
  const [domain] = listed('emailDomains');
  const lists = {
    teams: listed('teams'),
    organizations: listed('organizations'),
    groups: listed('groups'),
  };
  const known = Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0));
  const email = address ?? (domain === undefined ? undefined : `member@${domain}`);
  const member = { ...known, ...(email !== undefined && { email }) };
  return [
    { name: 'member', facts: member },
    { name: 'stranger', facts: { email: 'stranger@elsewhere.test' } },
    { name: 'unverified', facts: { ...member, email_verified: false } },
    ...Object.keys(MISBEHAVIOURS).map((misbehave) => ({ name: misbehave, facts: { ...member, misbehave } })),
  ];
}

/** Users with an address that an expression of a policy contains, or one in its domain. */
function namedVisitors(texts: readonly string[]): Visitor[] {
  const addresses = texts.flatMap((text) => {
    if (!/^[\w.+-]*@[\w.-]+$/.test(text)) return [];
    return [text.startsWith('@') ? `member${text}` : text];
  });
  return [...new Set(addresses)].map((email) => ({ name: email, facts: { email } }));
}

/** Below the base of a gate, but none of its paths. */
const NOT_FOUND = 'nothing-here';

function reservedOf(
  { edges, service_name: service }: EdgeConfig,
  logins: readonly Pick<Login, 'paths'>[],
): string[] {
  const ground = simulatedEnvironment('https://login.test');
  const ofModules = Object.entries(edges.https).flatMap(([edge, { routes }]) =>
    gatesOf(edge, routes, ground).flatMap((gate, index) =>
      gate === null ? [] : below(gate.base, pathsOf(loginModuleOf(routes[index]!)!)),
    ),
  );
  return [...ofModules, ...logins.flatMap(({ paths }) => below(loginBase(service), paths))];
}

function pathsOf({ gatePaths }: Pick<ModuleFacts<never>, 'gatePaths'>): readonly string[] {
  return gatePaths?.ofBrowsers ?? [];
}

function below(base: string, paths: readonly string[]): string[] {
  return [NOT_FOUND, ...paths].map((path) => base + path);
}

const SECOND_MS = 1_000;
/** Lifetime of access tokens at most providers. */
const TOKEN_MS = 3_600_000;

/**
 * A login, then a request when the session is due for a check, about to be renewed, idle for too long, or
 * expired.
 */
function sessionBefores({ mostMs, within }: LoginTimes): Before[] {
  const msOf = (wanted: 'idle' | 'check'): number => within.find(({ kind }) => kind === wanted)?.ms ?? 0;
  const idleMs = msOf('idle');
  const renewedMs = Math.ceil(idleMs / 2 / SECOND_MS) * SECOND_MS;
  const waits = [msOf('check'), renewedMs, idleMs, mostMs, TOKEN_MS].filter((ms) => ms > 0);
  return [...new Set(waits)].map((ms) => ({ count: 1, everyMs: 0, upstreams: {}, thenMs: ms + 1 }));
}

const DAY_MS = 86_400_000;
const BODY = '{"id":"1"}';

/** Each verifier's signature, and that signature damaged in every way that is visible in a request. */
function signaturesOf(config: EdgeConfig, actions: Actions, signer: Signer): Signature[] {
  const verifiers = [
    ...modulesOf(config).flatMap(({ facts, config: own }) => facts.signedBy?.(own) ?? []),
    ...actions.flatMap(({ type, config: own }) => ACTION_FACTS.get(type)?.signedBy?.(own as never) ?? []),
  ];
  const distinct = new Map(verifiers.map((each) => [`${each.provider} ${each.secret}`, each]));
  return [...distinct.values()].flatMap((each) => waysOf({ ...each, signer }));
}

/** One verifier's signature, intact and damaged. */
function waysOf(signing: Signing): Signature[] {
  const way = (message: string, shiftMs = 0, spoil: Spoil = () => ({})): Signature => ({
    message: `signed by ${signing.provider}${message}`,
    on: (draft) => signedDraft(draft, signing, shiftMs, spoil),
  });
  const spoils = Array.from({ length: ADDED_LIMIT }, (_, at) => [
    way(` without header ${at + 1} of the signature`, 0, without(at)),
    way(`, header ${at + 1} of the signature twice`, 0, twice(at)),
    way(`, header ${at + 1} of the signature damaged`, 0, spoilt(at)),
    way(
      ` without member ${at + 1} of its header`,
      0,
      members(at, () => []),
    ),
    way(`, member ${at + 1} of its header twice`, 0, members(at, twofold)),
    way(`, member ${at + 1} of its header damaged`, 0, members(at, nonsense)),
  ]);
  return [
    way(''),
    way(' a day ago', -DAY_MS),
    way(' a day ahead', DAY_MS),
    way(', then changed', 0, (_added, { body }) => ({ body: `${body} ` })),
    ...spoils.flat(),
  ];
}

/** Maximum number of headers that a provider adds. */
const ADDED_LIMIT = 5;

/** Damages a signed request, given the headers that the signature added. */
type Spoil = (added: readonly string[], draft: Draft) => Partial<Draft>;

function without(at: number): Spoil {
  return (added, { headers }) => ({
    headers: headers.filter((_, index) => headers[index - (index % 2)] !== added[at]),
  });
}

function twice(at: number): Spoil {
  return (added, { headers }) => {
    const index = headers.indexOf(added[at] ?? '');
    return index < 0 ? {} : { headers: [...headers, ...headers.slice(index, index + 2)] };
  };
}

function spoilt(at: number): Spoil {
  return (added, { headers }) => ({
    headers: headers.map((text, index): string =>
      index % 2 === 1 && headers[index - 1] === added[at] ? 'not-what-the-provider-sends' : text,
    ),
  });
}

/** Some providers sign with a list: `t=1,v1=ab`. */
function members(at: number, change: (member: string) => readonly string[]): Spoil {
  return (added, { headers }) => ({
    headers: headers.map((text, index): string => {
      const list = text.split(',');
      const isList = index % 2 === 1 && added.includes(headers[index - 1]!) && /^\w+=[^,]*,/.test(text);
      return isList && at < list.length
        ? list.flatMap((each, position) => (position === at ? change(each) : each)).join(',')
        : text;
    }),
  });
}

const twofold = (member: string) => [member, member];
const nonsense = (member: string) => [`${member.slice(0, member.indexOf('='))}=!`];

interface Signing {
  readonly provider: string;
  readonly secret: string;
  readonly signer: Signer;
}

function signedDraft(
  draft: Draft,
  { provider, secret, signer }: Signing,
  shiftMs: number,
  spoil: Spoil,
): Draft {
  const { scheme, host, path, query } = draft;
  const url = `${scheme}://${host}${path}${query === undefined ? '' : `?${query}`}`;
  const body = new TextEncoder().encode(draft.body === '' ? BODY : draft.body);
  const signed = signer(
    provider,
    secret,
    { method: 'POST', url, headers: [], body },
    draft.startMs + shiftMs,
  );
  if ('problem' in signed) return draft;
  const headers = signed.headers.map((text, index) => (index % 2 === 0 ? text.toLowerCase() : text));
  const added = headers.filter((_, index) => index % 2 === 0);
  const others = draft.headers.filter((_, index) => !added.includes(draft.headers[index - (index % 2)]!));
  const whole: Draft = {
    ...draft,
    method: 'POST',
    headers: [...others, ...headers],
    body: new TextDecoder().decode(signed.body),
  };
  return { ...whole, ...spoil(added, whole) };
}
