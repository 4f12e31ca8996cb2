import { MISBEHAVIOURS } from '../../development_idp/identities.ts';
import type { EdgeConfig, RouteConfig } from '../../edge/document/schema.ts';
import { gatesOf, simulatedGround } from '../../edge/gates.ts';
import type { Signer } from '../document/requests.ts';
import type { Asker, Before, Draft } from './draft.ts';

/** What is worth trying at login gates and at verifiers of webhooks. */
export interface GatePools {
  /** Somebody whom every gate lets in, somebody whom none with a list does, and those for whom the provider goes wrong. */
  readonly askers: readonly Asker[];
  /** Paths that gates keep for themselves, and one that is none of them. */
  readonly reserved: readonly string[];
  /** Ways of signing a request, and of spoiling that. */
  readonly signatures: readonly Signature[];
  readonly befores: readonly Before[];
  readonly isAskedForPages: boolean;
}

/** One way in which a request is signed. */
export interface Signature {
  /** As part of a sentence: `signed by github`. */
  readonly says: string;
  /** The draft with it; as it was where it cannot be signed. */
  readonly on: (draft: Draft) => Draft;
}

type Routes = readonly { readonly route: RouteConfig }[];
type Actions = readonly { readonly type: string; readonly config: unknown }[];

export function gatePools(
  config: EdgeConfig,
  routes: Routes,
  actions: Actions,
  { signer, texts }: { readonly signer: Signer | null; readonly texts: readonly string[] },
): GatePools {
  const gates = routes.flatMap(({ route }): GateConfig[] =>
    [route.oauth, route.oidc, route.saml].flatMap((gate) => (gate?.enabled === true ? [gate] : [])),
  );
  const inPolicy = actions.some(({ type }) => LOGIN_ACTIONS.has(type));
  const logsIn = gates.length > 0 || inPolicy;
  return {
    askers: logsIn ? [...askersOf(gates), ...namedAskers(texts)] : [],
    reserved: logsIn ? reservedOf(config, inPolicy) : [],
    signatures: signer === null ? [] : signaturesOf(routes, actions, signer),
    befores: [
      ...gates.flatMap((gate) => sessionBefores(gate)),
      ...(inPolicy ? sessionBefores(OF_ACTIONS) : []),
    ],
    isAskedForPages: logsIn,
  };
}

/** Whether anything in a configuration asks users to log in: then there are providers in cases, if nobody in them. */
export function hasLogins({ edges }: EdgeConfig): boolean {
  return Object.values(edges.https).some(({ routes }) =>
    routes.some(
      ({ oauth, oidc, saml, traffic_policy: policy }) =>
        [oauth, oidc, saml].some((gate) => gate?.enabled === true) ||
        (policy !== undefined && /oauth|openid-connect|saml/.test(policy.value)),
    ),
  );
}

const LOGIN_ACTIONS: ReadonlySet<string> = new Set(['oauth', 'openid-connect', 'saml']);

/** What all session gates have in common, and what only some have. */
interface GateConfig {
  readonly enabled: boolean;
  readonly inactivity_timeout: number;
  readonly maximum_duration: number;
  readonly auth_check_interval?: number;
  readonly provider?: unknown;
  readonly authorized_groups?: readonly string[];
}

function askersOf(gates: readonly GateConfig[]): Asker[] {
  const apps = gates.flatMap(({ provider }) => Object.values((provider ?? {}) as Record<string, object>));
  const listed = (key: string): string[] =>
    apps.flatMap((app) => (app as Readonly<Record<string, readonly string[] | undefined>>)[key] ?? []);
  const [address] = listed('email_addresses');
  const [domain] = listed('email_domains');
  const lists = {
    teams: listed('teams'),
    organizations: listed('organizations'),
    groups: gates.flatMap(({ authorized_groups: groups = [] }) => groups),
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

/** Whoever has an address that an expression of a policy speaks of, or one of its domain. */
function namedAskers(texts: readonly string[]): Asker[] {
  const addresses = texts.flatMap((text) => {
    if (!/^[\w.+-]*@[\w.-]+$/.test(text)) return [];
    return [text.startsWith('@') ? `member${text}` : text];
  });
  return [...new Set(addresses)].map((email) => ({ name: email, facts: { email } }));
}

/** What sessions of actions last, in seconds, where nothing else is said. */
const OF_ACTIONS = { enabled: true, inactivity_timeout: 3_600, maximum_duration: 43_200 };

/** Below the base of a gate: its own paths of whatever protocol, and nothing. */
const WITHIN = [
  'authn',
  'login',
  'logout',
  'signed_out',
  'callback',
  'saml/metadata',
  'saml/acs',
  'nothing-here',
];

function reservedOf({ edges, service_name: service }: EdgeConfig, inPolicy: boolean): string[] {
  const ground = simulatedGround('https://login.test');
  const bases = Object.entries(edges.https).flatMap(([edge, { routes }]) =>
    gatesOf(edge, routes, ground).flatMap((gate) => gate?.base ?? []),
  );
  if (inPolicy) bases.push(`/${service}/`);
  return [...new Set(bases)].flatMap((base) => WITHIN.map((path) => base + path));
}

const SECOND_MS = 1_000;
/** Seconds for which access tokens count, as most providers have it. */
const HOUR = 3_600;

/** A login, then a request when the session is due for a check, about to be renewed, idle for too long, or over. */
function sessionBefores({
  inactivity_timeout: idle,
  maximum_duration: most,
  auth_check_interval: check = 0,
}: GateConfig): Before[] {
  const waits = [check, Math.ceil(idle / 2), idle, most, HOUR].filter((seconds) => seconds > 0);
  return [...new Set(waits)].map((seconds) => ({
    count: 1,
    everyMs: 0,
    upstreams: {},
    thenMs: seconds * SECOND_MS + 1,
  }));
}

const DAY_MS = 86_400_000;
const BODY = '{"id":"1"}';

interface Verifier {
  readonly provider: string;
  readonly secret: string;
}

/** Each verifier's signature, and that signature spoilt in every way that shows in a request. */
function signaturesOf(routes: Routes, actions: Actions, signer: Signer): Signature[] {
  const verifiers: Verifier[] = [
    ...routes.flatMap(({ route: { webhook_verification: own } }) =>
      own === undefined ? [] : [{ provider: own.provider, secret: own.secret ?? '' }],
    ),
    ...actions.flatMap(({ type, config }) => (type === 'verify-webhook' ? [config as Verifier] : [])),
  ];
  const distinct = new Map(verifiers.map((each) => [`${each.provider} ${each.secret}`, each]));
  return [...distinct.values()].flatMap((each) => waysOf({ ...each, signer }));
}

/** One verifier's signature, whole and spoilt. */
function waysOf(signing: Signing): Signature[] {
  const way = (says: string, shiftMs = 0, spoil: Spoil = () => ({})): Signature => ({
    says: `signed by ${signing.provider}${says}`,
    on: (draft) => signedDraft(draft, signing, shiftMs, spoil),
  });
  const spoils = Array.from({ length: ADDED_LIMIT }, (_, at) => [
    way(` without header ${at + 1} of the signature`, 0, without(at)),
    way(`, header ${at + 1} of the signature twice`, 0, twice(at)),
    way(`, header ${at + 1} of the signature spoilt`, 0, spoilt(at)),
    way(
      ` without member ${at + 1} of its header`,
      0,
      members(at, () => []),
    ),
    way(`, member ${at + 1} of its header twice`, 0, members(at, twofold)),
    way(`, member ${at + 1} of its header spoilt`, 0, members(at, nonsense)),
  ]);
  return [
    way(''),
    way(' a day ago', -DAY_MS),
    way(' a day ahead', DAY_MS),
    way(', then changed', 0, (_added, { body }) => ({ body: `${body} ` })),
    ...spoils.flat(),
  ];
}

/** Headers that a provider adds at most. */
const ADDED_LIMIT = 5;

/** What is done to a signed request, given the headers that the signature has added. */
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

/** Some providers sign in a list: `t=1,v1=ab`. */
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
