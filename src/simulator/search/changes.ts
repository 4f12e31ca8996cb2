import { firstValue, withoutField } from '../../http/fields.ts';
import { type Address, parseAddress } from '../../net/address.ts';
import type { Draft } from './draft.ts';
import type { Answer, Pools } from './pools.ts';

/** One field of a draft changed. */
export interface Change {
  /** What is changed; two changes of one field exclude each other. */
  readonly field: string;
  /** As part of a sentence: `from 192.0.2.1 instead of 203.0.113.9`. */
  readonly says: string;
  readonly draft: Draft;
}

/** Every draft that differs from one in a single field, the nearest of a field first. */
export function changesOf(draft: Draft, pools: Pools): Change[] {
  return [
    ...addressChanges(draft, pools),
    ...agentChanges(draft, pools),
    ...choices('method', draft.method, pools.methods, (method) => ({
      says: `with method ${method}`,
      draft: { ...draft, method },
    })),
    ...choices('path', draft.path, pools.paths, (path) => ({
      says: `at path ${path}`,
      draft: { ...draft, path },
    })),
    ...Array.from(pools.headers, ([name, values]) => headerChanges(draft, name, values)).flat(),
    ...Array.from(pools.parameters, ([name, values]) => parameterChanges(draft, name, values)).flat(),
    ...Array.from(pools.cookies, ([name, values]) => cookieChanges(draft, name, values)).flat(),
    ...Array.from(pools.facts, ([name, values]) => factChanges(draft, name, values)).flat(),
    ...certificateChanges(draft, pools),
    ...choices('host', draft.host, pools.hosts, (host) => ({
      says: `with host ${host}`,
      draft: { ...draft, host },
    })),
    ...choices('body', draft.body, pools.bodies, (body) => ({
      says: `with a body of ${body.length} bytes`,
      draft: { ...draft, body },
    })),
    ...choices('clock', draft.startMs, pools.startsMs, (startMs) => ({
      says: `at ${new Date(startMs).toISOString()}`,
      draft: { ...draft, startMs },
    })),
    ...worldChanges(draft, pools),
  ];
}

function choices<T>(
  field: string,
  current: T,
  values: Iterable<T>,
  make: (value: T) => Omit<Change, 'field'>,
): Change[] {
  return Array.from(values)
    .filter((value) => value !== current)
    .map((value) => Object.assign({ field }, make(value)));
}

/** Addresses with the longest common beginning first. */
function addressChanges(draft: Draft, { addresses }: Pools): Change[] {
  const from = parseAddress(draft.ip);
  if (from === null) return [];
  const others = Array.from(addresses, (text) => parseAddress(text)).filter(
    (address): address is Address => address !== null && address.text !== from.text,
  );
  return others
    .map((address) => ({ text: address.text, bits: commonBits(address, from) }))
    .sort((one, other) => other.bits - one.bits)
    .map(({ text }) => ({
      field: 'address',
      says: `from ${text} instead of ${draft.ip}`,
      draft: { ...draft, ip: text },
    }));
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

function agentChanges(draft: Draft, { agents }: Pools): Change[] {
  const current = firstValue(draft.headers, 'user-agent') ?? null;
  return choices('user-agent', current, agents, (agent) => ({
    says: agent === null ? 'without a user-agent' : `with user-agent '${agent}'`,
    draft: withHeader(draft, 'user-agent', agent),
  }));
}

function headerChanges(draft: Draft, name: string, values: ReadonlySet<string | null>): Change[] {
  if (name === 'host') return [];
  const current = firstValue(draft.headers, name) ?? null;
  return choices(`header ${name}`, current, sendable(values), (value) => ({
    says: value === null ? `without header ${name}` : `with header ${name}: ${value}`,
    draft: withHeader(draft, name, value),
  }));
}

/** What can stand in a header (RFC 9110 §5.5) without being trimmed. */
function sendable(values: Iterable<string | null>): (string | null)[] {
  return [...values].filter((value) => value === null || /^[!-~](?:[ -~]*[!-~])?$/.test(value));
}

function withHeader(draft: Draft, name: string, value: string | null): Draft {
  const rest = withoutField(draft.headers, name);
  return { ...draft, headers: value === null ? rest : [...rest, name, value] };
}

function parameterChanges(draft: Draft, name: string, values: ReadonlySet<string | null>): Change[] {
  const parts = (draft.query ?? '').split('&').filter((part) => part !== '');
  const isOwn = (part: string) => part.split('=', 1)[0] === encodeURIComponent(name);
  const rest = parts.filter((part) => !isOwn(part));
  return [...values].flatMap((value) => {
    const own = value === null ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`];
    const query = [...rest, ...own].join('&');
    if (query === (draft.query ?? '')) return [];
    return [
      {
        field: `parameter ${name}`,
        says: value === null ? `without query parameter ${name}` : `with query parameter ${name}=${value}`,
        draft: { ...draft, query: query === '' ? undefined : query },
      },
    ];
  });
}

function cookieChanges(draft: Draft, name: string, values: ReadonlySet<string | null>): Change[] {
  const current = firstValue(draft.headers, 'cookie') ?? '';
  const rest = current.split('; ').filter((pair) => pair !== '' && !pair.startsWith(`${name}=`));
  return [...values].flatMap((value) => {
    if (value !== null && !/^[\w.~:/?#@!$&'()*+=-]*$/.test(value)) return [];
    const cookie = [...rest, ...(value === null ? [] : [`${name}=${value}`])].join('; ');
    if (cookie === current) return [];
    return [
      {
        field: `cookie ${name}`,
        says: value === null ? `without cookie ${name}` : `with cookie ${name}=${value}`,
        draft: withHeader(draft, 'cookie', cookie === '' ? null : cookie),
      },
    ];
  });
}

function factChanges(draft: Draft, name: string, values: ReadonlySet<unknown>): Change[] {
  const current = JSON.stringify(draft.variables[name]);
  return [...values].flatMap((value) => {
    if (JSON.stringify(value) === current) return [];
    return [
      {
        field: `fact ${name}`,
        says: `where ${name} is ${typeof value === 'string' ? value : JSON.stringify(value)}`,
        draft: { ...draft, variables: { ...draft.variables, [name]: value } },
      },
    ];
  });
}

function certificateChanges(draft: Draft, { certificates }: Pools): Change[] {
  const current = draft.tls?.clientCertificate?.subjectCn ?? null;
  return choices('certificate', current, certificates, (subjectCn) => ({
    says: subjectCn === null ? 'without a client certificate' : `with the certificate of ${subjectCn}`,
    draft: {
      ...draft,
      tls:
        subjectCn === null
          ? null
          : {
              version: 'TLS 1.3',
              cipherSuite: 'TLS_AES_128_GCM_SHA256',
              clientCertificate: { serialNumber: '1', subjectCn },
            },
    },
  }));
}

/** What is not in the request: upstreams, chance, and what went before. */
function worldChanges(draft: Draft, { answers, backends, seeds, befores }: Pools): Change[] {
  const scripted = answers.flatMap((answer) => {
    const all = Object.fromEntries(backends.map((name) => [name, answer] as const)) as Draft['upstreams'];
    return {
      field: 'upstreams',
      says: `when upstreams answer ${shownAnswer(answer)}`,
      draft: { ...draft, upstreams: all },
    };
  });
  const chances = Array.from({ length: seeds }, (_seed, index) => index + 1)
    .filter((seed) => seed !== draft.seed)
    .map((seed) => ({ field: 'seed', says: `with seed ${seed}`, draft: { ...draft, seed } }));
  const repeated = befores.map((before) => ({
    field: 'before',
    says: `after ${before.count} such requests${Object.keys(before.upstreams).length > 0 ? ' that fail' : ''}${before.thenMs > 1 ? ` and ${before.thenMs} ms` : ''}`,
    draft: { ...draft, before },
  }));
  return [...scripted, ...repeated, ...chances];
}

function shownAnswer(answer: Answer): string {
  if (typeof answer !== 'object') return String(answer);
  const { status = 200, headers = {} } = answer;
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [String(status), ...fields].join(', ');
}
