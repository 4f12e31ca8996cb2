import { connectionOf } from '../engine/request_like.ts';
import type { RequestHead } from '../engine/contract.ts';
import { withoutField } from '../http/fields.ts';
import { parseAddress } from '../net/address.ts';
import { readMatch } from '../edge/compile.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import type { CompiledCase } from './compile_case.ts';
import { outcomeOf } from './expect/outcome.ts';
import { runCase } from './run_case.ts';
import type { PreparedRequest } from './simulator.ts';
import type { EdgeUnderTest } from './under_test.ts';

/** One field of a request changed. */
interface Change {
  readonly says: string;
  readonly request: PreparedRequest;
}

/** Changes that are tried at most. */
const TRIES = 200;

/**
 * The smallest change of one field of the request after which every expectation holds, found by running it. It
 * tells which rule would have done what was expected. Null when no change that was tried does.
 */
export function nearMiss(compiled: CompiledCase, edge: EdgeUnderTest): string | null {
  const { plan } = compiled;
  if (plan.kind !== 'one' || 'refused' in plan.request.head) return null;
  const changes = changesOf(plan.request, plan.request.head, edge.config);
  for (const { says, request } of changes.slice(0, TRIES)) {
    const ran = runCase({ ...compiled, plan: { ...plan, request } }, edge);
    if (ran.mismatches.length > 0 || ran.outcome === null) continue;
    const facts = outcomeOf(ran.outcome.flight).facts();
    const rule = facts.findLast((step) => step.rule !== undefined && step.phase === 'request');
    const by = rule === undefined ? '' : `: rule ${rule.rule}${inBrackets(rule.detail)} would do it`;
    return `${says} it would be as expected${by}`;
  }
  return null;
}

function inBrackets(detail: Readonly<Record<string, unknown>>): string {
  const facts = Object.entries(detail).filter(([name]) => name !== 'rule');
  return facts.length === 0
    ? ''
    : ` (${facts.map(([name, value]) => `${name} ${String(value)}`).join(', ')})`;
}

function changesOf(request: PreparedRequest, head: RequestHead, config: EdgeConfig): Change[] {
  const withHead = (says: string, change: Partial<RequestHead>): Change => ({
    says,
    request: { ...request, head: { ...head, ...change } },
  });
  return [
    ...addressChanges(request, config),
    ...agentChanges(head, config).map((agent) =>
      withHead(agent === null ? 'without a user-agent' : `with user-agent '${agent}'`, {
        headers: [
          ...withoutField(head.headers, 'user-agent'),
          ...(agent === null ? [] : ['user-agent', agent]),
        ],
      }),
    ),
    ...['GET', 'POST', 'OPTIONS', 'DELETE']
      .filter((method) => method !== head.method)
      .map((method) => withHead(`with method ${method}`, { method })),
    ...pathsOf(config)
      .filter((path) => path !== head.path)
      .map((path) => withHead(`at path ${path}`, { path })),
  ];
}

/** The first address of each range, that of the longest common beginning first: it is the nearest. */
function addressChanges(request: PreparedRequest, { ip_policies: policies }: EdgeConfig): Change[] {
  const { client } = request.connection;
  const texts = new Set(
    Object.values(policies).flatMap(({ rules }) => rules.map(({ cidr }) => cidr.split('/')[0]!)),
  );
  return [...texts]
    .flatMap((text) => {
      const address = parseAddress(text);
      return address === null || address.text === client.text
        ? []
        : [{ text, bits: commonBits(address, client) }];
    })
    .sort((one, other) => other.bits - one.bits)
    .map(({ text }) => ({
      says: `from ${text} instead of ${client.text}`,
      request: {
        ...request,
        connection: { ...request.connection, client: connectionOf({ clientIp: text }, 'https', 0).client },
      },
    }));
}

type Words = Readonly<Record<'w0' | 'w1' | 'w2' | 'w3', number>>;

function commonBits(one: Words, other: Words): number {
  let bits = 0;
  for (const word of ['w0', 'w1', 'w2', 'w3'] as const) {
    const same = Math.clz32(one[word] ^ other[word]);
    bits += same;
    if (same < 32) break;
  }
  return bits;
}

/** User agents that filters of the configuration speak of: the plain letters of their patterns, and none. */
function agentChanges(head: RequestHead, { edges }: EdgeConfig): (string | null)[] {
  const patterns = Object.values(edges.https).flatMap(({ routes }) =>
    routes.flatMap(({ user_agent_filter: filter }) => [...(filter?.allow ?? []), ...(filter?.deny ?? [])]),
  );
  if (patterns.length === 0) return [];
  const words = patterns.flatMap(
    (pattern) => pattern.replace(/\(\?\w+\)/g, '').match(/[A-Za-z][\w/.-]*/g) ?? [],
  );
  return [...new Set(words), 'Mozilla/5.0', null].filter(
    (agent) => agent === null || !head.headers.includes(agent),
  );
}

function pathsOf({ edges }: EdgeConfig): string[] {
  const paths = Object.values(edges.https).flatMap(({ routes }) =>
    routes.map(({ match }) => readMatch(match).path),
  );
  return [...new Set(paths)];
}
