import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { editWhole } from '../../../src/engine/body_editors.ts';
import type { Question } from '../../../src/engine/questions.ts';
import { traceOf } from '../../../src/engine/trace.ts';
import type { PolicyLinks } from '../../../src/policy/module.ts';
import { runConnect } from '../../../src/policy/phases.ts';
import {
  type Given,
  type Played,
  type Script,
  connectionOf,
  play,
  policyOf,
  routeOf,
  steadyWorld,
} from './stage.ts';

/** One exchange of a case: what is sent, the scripted answers, the expected results. */
interface Act {
  readonly request?: Given;
  readonly upstream?: Script['upstream'];
  /** Answers to fetches, in order; further fetches fail to connect. */
  readonly fetch?: readonly FetchScript[];
  /** Time that passes before it. */
  readonly after_ms?: number;
  readonly expect: object;
}

interface FetchScript {
  readonly status?: number;
  readonly headers?: readonly string[];
  readonly body?: string;
  readonly failure?: 'connect' | 'timeout' | 'too_large' | 'invalid' | 'redirects';
}

/** A case as data: a policy, and one or several consecutive exchanges. */
export interface PolicyCase extends Partial<Act> {
  readonly name: string;
  readonly policy: object;
  readonly links?: PolicyLinks;
  readonly chance?: readonly number[];
  readonly acts?: readonly Act[];
}

const FOLDER = join(import.meta.dirname, 'cases');

/** All tables of cases, by the name of their file. */
export function caseTables(): readonly (readonly [string, readonly PolicyCase[]])[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => [
      name.replace('.yaml', ''),
      parse(readFileSync(join(FOLDER, name), 'utf8')) as PolicyCase[],
    ]);
}

/** Runs a case; each result is beside its expectation. */
export function playCase({
  policy,
  links,
  chance,
  acts,
  ...only
}: PolicyCase): { seen: object; expected: object }[] {
  const all = acts ?? [only as Act];
  if ('on_tcp_connect' in policy) return all.map((act) => connect(policy, act));
  const route = routeOf(JSON.stringify(policy), links, chance);
  return all.map(({ request = {}, upstream, fetch = [], after_ms: afterMs = 0, expect }) => {
    route.world.nowAtMs += afterMs;
    let fetched = 0;
    const script: Script = {
      ...(upstream === undefined ? {} : { upstream }),
      fetch: () => {
        const { failure, status = 200, headers = [], body = '' } = fetch[fetched++] ?? { failure: 'connect' };
        if (failure !== undefined) return { failure, detail: '' };
        return { status, headers, body: Buffer.from(body), resolvedIp: '198.51.100.1', timeMs: 5 };
      },
    };
    const seen = seenOf(play(route, request, script), upstream?.body ?? '');
    sayAbsent(seen, expect);
    return { seen, expected: expect };
  });
}

/** Runs `on_tcp_connect`, which routes do not have. */
function connect(policy: object, { request = {}, expect }: Act): { seen: object; expected: object } {
  const compiled = policyOf(JSON.stringify(policy));
  const state = compiled.initial?.(() => 'policy') ?? null;
  const verdict = runConnect(compiled, connectionOf(request), state, steadyWorld());
  if (verdict.verdict === 'ask') throw new Error('nothing is asked for a connection');
  const { reason, inner = [], edits = [] } = verdict;
  const seen = {
    closed: verdict.verdict === 'stop' && verdict.close === true,
    code: reason.code,
    detail: reason.detail,
    steps: inner.map(({ code }) => code),
    logs: edits.flatMap((edit) => (edit.edit === 'log' ? [edit.metadata] : [])),
  };
  return { seen, expected: expect };
}

/** In expectations null and absent mean the same. */
function sayAbsent(seen: object, expected: object): void {
  const members = seen as Record<string, unknown>;
  for (const [key, value] of Object.entries(expected) as [string, unknown][]) {
    if (value === null) members[key] ??= null;
    const inner = members[key];
    if (isObject(value) && isObject(inner)) sayAbsent(inner, value);
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** The results of an exchange that cases can have expectations for. */
function seenOf({ exchange, asked, reply }: Played, upstreamBody: string): object {
  const trace = traceOf(exchange);
  const policySteps = (phase: string) =>
    trace.find((step) => step.module === 'traffic_policy' && step.phase === phase);
  const forward = asked.find(
    (question): question is Extract<Question, { ask: 'forward' }> => question.ask === 'forward',
  );
  const request = policySteps('request');
  const response = policySteps('response');
  const sent = forward?.request;
  return {
    status: reply.status,
    headers: fieldsOf(reply.headers),
    body: bodyOf(reply, upstreamBody),
    closed: reply.close,
    compress: reply.compress,
    code: request?.code,
    detail: request?.detail,
    pointer: request?.pointer,
    steps: request?.inner?.map(({ code }) => code),
    details: request?.inner?.map(({ detail }) => detail),
    response_code: response?.code,
    response_steps: response?.inner?.map(({ code }) => code),
    logs: exchange.logs,
    asked: asked.map(({ ask }) => ask),
    fetches: asked.filter(({ ask }) => ask === 'fetch').map(fetchOf),
    upstream:
      sent === undefined
        ? null
        : {
            method: sent.method,
            target: sent.target,
            headers: fieldsOf(sent.headers),
            body: sent.body === null ? null : Buffer.from(sent.body).toString('utf8'),
          },
  };
}

function fetchOf(question: Question): object | null {
  if (question.ask !== 'fetch') return null;
  const { headers, body, ...rest } = question.request;
  return {
    ...rest,
    headers: fieldsOf(headers),
    body: body === null ? null : Buffer.from(body).toString('utf8'),
  };
}

function bodyOf({ body, editors = [] }: Played['reply'], upstreamBody: string): string {
  if (body === 'upstream' && editors.length === 0) return 'of the upstream';
  const bytes =
    body === 'upstream' ? Buffer.from(upstreamBody) : 'text' in body ? Buffer.from(body.text) : body.bytes;
  const edited = editWhole(bytes, editors);
  return edited.isCut ? 'cannot be edited' : Buffer.from(edited.bytes).toString('utf8');
}

/** Values by lower-case name, a list of them where a name occurs more than once. */
function fieldsOf(fields: readonly string[]): Record<string, string | string[]> {
  const seen: Record<string, string | string[]> = {};
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at]!.toLowerCase();
    const value = fields[at + 1]!;
    const known = seen[name];
    seen[name] = known === undefined ? value : Array.isArray(known) ? [...known, value] : [known, value];
  }
  return seen;
}
