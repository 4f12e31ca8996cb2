import { USUAL_TLS } from '../../engine/request_like.ts';
import { firstValue, isFieldName, withoutField } from '../../http/fields.ts';
import { type Address, parseAddress } from '../../net/address.ts';
import { type Draft, type Visitor, beforeText } from './draft.ts';
import type { Answer } from './answer_pools.ts';
import type { Pools } from './pools.ts';
import { counted } from '../../diagnostics/message_text.ts';

/** One field of a draft changed. */
export interface Change {
  /** The changed field; two changes of one field exclude each other. */
  readonly field: string;
  /** As part of a sentence: `from 192.0.2.1 instead of 203.0.113.9`. */
  readonly message: string;
  /** Applies the same change to another draft. */
  readonly again: (draft: Draft) => Draft;
  readonly draft: Draft;
}

/** Every draft that differs in a single field, the nearest values of a field first. */
export function changesOf(draft: Draft, pools: Pools): Change[] {
  if (draft.connect !== null) return connectionChanges(draft, pools);
  const chosen = <Field extends keyof Draft>(
    field: Field,
    values: Iterable<Draft[Field]>,
    message: (value: Draft[Field]) => string,
  ): Change[] =>
    Array.from(values)
      .filter((value) => value !== draft[field])
      .map((value) => change(draft, field, message(value), (from) => ({ ...from, [field]: value })));
  return [
    ...addressChanges(draft, pools),
    ...fieldChanges(draft, 'user-agent', pools.agents, (agent) =>
      agent === null ? 'without a user-agent' : `with user-agent '${agent}'`,
    ),
    ...chosen('scheme', pools.schemes, (scheme) => `with ${scheme}`),
    ...chosen('method', pools.methods, (method) => `with method ${method}`),
    ...chosen('path', pools.paths, (path) => `at path ${path}`),
    ...Array.from(pools.headers, ([name, values]) => headerChanges(draft, name, values)).flat(),
    ...Array.from(pools.parameters, ([name, values]) => parameterChanges(draft, name, values)).flat(),
    ...Array.from(pools.cookies, ([name, values]) => cookieChanges(draft, name, values)).flat(),
    ...Array.from(pools.facts, ([name, values]) => factChanges(draft, name, values)).flat(),
    ...certificateChanges(draft, pools),
    ...chosen('host', pools.hosts, (host) => `with host ${host}`),
    ...chosen('body', pools.bodies, (body) => `with a body of ${counted(body.length, 'byte')}`),
    ...chosen('startMs', pools.startsMs, (startMs) => `at ${new Date(startMs).toISOString()}`),
    ...gateChanges(draft, pools),
    ...worldChanges(draft, pools),
  ];
}

/** Changes of a connection's parameters. */
function connectionChanges(draft: Draft, pools: Pools): Change[] {
  return [
    ...addressChanges(draft, pools),
    ...Array.from(pools.facts, ([name, values]) => factChanges(draft, name, values)).flat(),
    ...(draft.connect?.kind === 'tls' ? certificateChanges(draft, pools) : []),
    ...Array.from(pools.startsMs).flatMap((startMs) =>
      startMs === draft.startMs
        ? []
        : [
            change(draft, 'startMs', `at ${new Date(startMs).toISOString()}`, (from) => ({
              ...from,
              startMs,
            })),
          ],
    ),
    ...worldChanges(draft, { ...pools, befores: [] }),
  ];
}

/** Changes of the identity, and of the webhook signature. */
function gateChanges(draft: Draft, { gates: { visitors, signatures } }: Pools): Change[] {
  const asked = visitors
    .filter(({ name }) => name !== draft.as?.name)
    .map((as) => change(draft, 'as', `as ${visitorText(as)}`, (from) => ({ ...from, as })));
  const signed = signatures.map(({ message, on }) => change(draft, 'signature', message, on));
  return [...asked, ...signed.filter(({ draft: made }) => made !== draft)];
}

/** A short description of a user. */
export function visitorText({ name, facts }: Visitor): string {
  const said = Object.entries(facts).map(([key, value]) => `${key} ${String(value)}`);
  return said.length === 0 ? `'${name}'` : `'${name}' (${said.join(', ')})`;
}

function change(draft: Draft, field: string, message: string, again: Change['again']): Change {
  return { field, message, again, draft: again(draft) };
}

/** Addresses with the longest common prefix first, then the nearest. */
function addressChanges(draft: Draft, { addresses }: Pools): Change[] {
  const from = parseAddress(draft.ip);
  if (from === null) return [];
  const others = Array.from(addresses, (text) => parseAddress(text)).filter(
    (address): address is Address => address !== null && address.text !== from.text,
  );
  return others
    .map((address) => ({
      text: address.text,
      bits: commonBits(address, from),
      away: Math.abs(address.w3 - from.w3),
    }))
    .sort((one, other) => other.bits - one.bits || one.away - other.away)
    .map(({ text }) =>
      change(draft, 'ip', `from ${text} instead of ${draft.ip}`, (base) => ({ ...base, ip: text })),
    );
}

function commonBits(one: Address, other: Address): number {
  let bits = one.family === other.family ? 1 : 0;
  for (const word of ['w0', 'w1', 'w2', 'w3'] as const) {
    const same = Math.clz32(one[word] ^ other[word]);
    bits += same;
    if (same < 32) break;
  }
  return bits;
}

function fieldChanges(
  draft: Draft,
  name: string,
  values: Iterable<string | null>,
  message: (value: string | null) => string,
): Change[] {
  const current = firstValue(draft.headers, name) ?? null;
  return sendable(values)
    .filter((value) => value !== current)
    .map((value) => change(draft, `header ${name}`, message(value), (from) => withHeader(from, name, value)));
}

function headerChanges(draft: Draft, name: string, values: ReadonlySet<string | null>): Change[] {
  if (name === 'host' || !isFieldName(name)) return [];
  return fieldChanges(draft, name, values, (value) =>
    value === null ? `without header ${name}` : `with header ${name}: ${value}`,
  );
}

/** Valid header values (RFC 9110 §5.5) that are not trimmed. */
function sendable(values: Iterable<string | null>): (string | null)[] {
  return [...values].filter((value) => value === null || /^[!-~](?:[ -~]*[!-~])?$/.test(value));
}

function withHeader(draft: Draft, name: string, value: string | null): Draft {
  const rest = withoutField(draft.headers, name);
  return { ...draft, headers: value === null ? rest : [...rest, name, value] };
}

function parameterChanges(draft: Draft, name: string, values: ReadonlySet<string | null>): Change[] {
  const key = encodeURIComponent(name);
  return [...values].flatMap((value) => {
    const message =
      value === null ? `without query parameter ${name}` : `with query parameter ${name}=${value}`;
    const own = value === null ? [] : [`${key}=${encodeURIComponent(value)}`];
    const made = change(draft, `parameter ${name}`, message, (from) => {
      const parts = (from.query ?? '').split('&');
      const rest = parts.filter((part) => part !== '' && part.split('=', 1)[0] !== key);
      const query = [...rest, ...own].join('&');
      return { ...from, query: query === '' ? undefined : query };
    });
    return made.draft.query === draft.query ? [] : [made];
  });
}

function cookieChanges(draft: Draft, name: string, values: ReadonlySet<string | null>): Change[] {
  return [...values].flatMap((value) => {
    if (value !== null && !/^[\w.~:/?#@!$&'()*+=-]*$/.test(value)) return [];
    const message = value === null ? `without cookie ${name}` : `with cookie ${name}=${value}`;
    const own = value === null ? [] : [`${name}=${value}`];
    const made = change(draft, `cookie ${name}`, message, (from) => {
      const pairs = (firstValue(from.headers, 'cookie') ?? '').split('; ');
      const rest = pairs.filter((pair) => pair !== '' && !pair.startsWith(`${name}=`));
      const cookie = [...rest, ...own].join('; ');
      return withHeader(from, 'cookie', cookie === '' ? null : cookie);
    });
    const [before, after] = [draft, made.draft].map(({ headers }) => firstValue(headers, 'cookie'));
    return before === after ? [] : [made];
  });
}

function factChanges(draft: Draft, name: string, values: ReadonlySet<unknown>): Change[] {
  const current = JSON.stringify(draft.variables[name]);
  return [...values].flatMap((value) => {
    const shown = JSON.stringify(value);
    if (shown === current) return [];
    const message = `where ${name} is ${typeof value === 'string' ? value : shown}`;
    return [
      change(draft, `fact ${name}`, message, (from) => ({
        ...from,
        variables: { ...from.variables, [name]: value },
      })),
    ];
  });
}

function certificateChanges(draft: Draft, { certificates }: Pools): Change[] {
  const current = draft.tls?.clientCertificate?.subjectCn ?? null;
  return [...certificates].flatMap((subjectCn) => {
    if (subjectCn === current) return [];
    const message =
      subjectCn === null ? 'without a client certificate' : `with the certificate of ${subjectCn}`;
    const tls =
      subjectCn === null ? null : { ...USUAL_TLS, clientCertificate: { serialNumber: '1', subjectCn } };
    return [change(draft, 'certificate', message, (from) => ({ ...from, tls }))];
  });
}

/** Changes outside the request: upstreams, earlier requests, and randomness. */
function worldChanges(draft: Draft, { answers, backends, tunnelAgents, seeds, befores }: Pools): Change[] {
  const scripted = answers.map((answer) => {
    const upstreams = Object.fromEntries(
      backends.map((name) => [name, answer] as const),
    ) as Draft['upstreams'];
    const message = `when upstreams answer ${shownAnswer(answer)}`;
    return change(draft, 'upstreams', message, (from) => ({ ...from, upstreams }));
  });
  const repeated = befores.map((before) => {
    const waiting = before.thenMs > 1 ? ` and ${before.thenMs} ms` : '';
    const message = `after ${counted(before.count, 'such request')}${beforeText(before)}${waiting}`;
    return change(draft, 'before', message, (from) => ({ ...from, before }));
  });
  const chances = Array.from({ length: seeds }, (_seed, index) => index + 1)
    .filter((seed) => seed !== draft.seed)
    .map((seed) => change(draft, 'seed', `with seed ${seed}`, (from) => ({ ...from, seed })));
  return [...scripted, ...tunnelChanges(draft, tunnelAgents), ...repeated, ...chances];
}

/** All agents online, where some are not; no agent online; each one offline. */
function tunnelChanges(draft: Draft, agents: Draft['agents']): Change[] {
  // Endpoints are known from the case alone.
  const binding = Object.entries(draft.agents).filter(([, { url }]) => url !== undefined);
  const all = { ...agents, ...Object.fromEntries(binding) };
  const names = Object.keys(all);
  if (names.length === 0) return [];
  const off = (gone: readonly string[]): Draft['agents'] =>
    Object.fromEntries(
      names.map((name) => [name, gone.includes(name) ? { ...all[name], online: false } : all[name]!]),
    );
  const sets = [[], names, ...(names.length > 1 ? names.map((name) => [name]) : [])];
  return sets.flatMap((gone) => {
    const changed = off(gone);
    if (JSON.stringify(changed) === JSON.stringify(draft.agents)) return [];
    const message = gone.length === 0 ? 'with all agents online' : `with ${gone.join(' and ')} offline`;
    return [change(draft, 'agents', message, (from) => ({ ...from, agents: changed }))];
  });
}

/** A short description of an upstream's response. */
export function shownAnswer(answer: Answer): string {
  if (typeof answer !== 'object') return String(answer);
  const { status = 200, headers = {} } = answer;
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [String(status), ...fields].join(', ');
}
