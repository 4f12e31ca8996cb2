import { describe, expect, it } from 'vitest';
import type { Question } from '../../../src/engine/questions.ts';
import { firstValue } from '../../../src/http/fields.ts';
import { upstreamRequest } from '../../../src/engine/forward_question.ts';

import { WEBHOOK_REASONS } from '../../../src/webhooks/reasons.ts';
import { MODULES } from '../../../src/filters/modules.ts';
import type { Exchanged } from './case.ts';
import { CASES } from './cases.ts';
import { edgeAround } from './edge_around.ts';

/** Reasons that need a body, a control request or a second edge, and the suites that reach them. */
const REACHED_ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  // test/webhooks/module.test.ts reaches every reason of this module.
  webhook_verification: Object.keys(WEBHOOK_REASONS).map((reason) => `webhook_verification.${reason}`),
  // test/policy/run
  traffic_policy: ['traffic_policy.forwarded'],
  // test/server/tcp: only TLS edges pass TLS through.
  tls_termination: ['tls_termination.passed'],
  // Whole flows with providers: test/auth/reasons.test.ts.
  oauth: Object.keys(MODULES.find(({ type }) => type === 'oauth')!.reasons),
  oidc: Object.keys(MODULES.find(({ type }) => type === 'oidc')!.reasons),
  // Whole flows against identity providers: test/auth/saml.
  saml: Object.keys(MODULES.find(({ type }) => type === 'saml')!.reasons),
};

/** What the simulator sends upstream is read again from the completed exchange. */
function sentUpstream(
  exchange: Parameters<typeof upstreamRequest>[0],
): Extract<Question, { ask: 'forward' }>['request'] | null {
  const leaf = exchange.attempts.at(-1)?.endpoint;
  return leaf?.kind === 'static' ? upstreamRequest(exchange, leaf) : null;
}

describe.each(MODULES.map((module) => [module.type, module] as const))('module %s', (type, module) => {
  const cases = CASES[type] ?? [];

  it('has cases', () => {
    expect(cases.length).toBeGreaterThan(0);
  });

  it('declares its reasons with sentences', () => {
    for (const [code, reason] of Object.entries(module.reasons)) {
      expect(code.startsWith(`${type}.`)).toBe(true);
      expect(reason.message).toMatch(/\w+ \w+/);
    }
  });

  const reached = new Set<string>();

  it.each(cases.map((each) => [each.name, each] as const))('%s', (_name, each) => {
    let nowMs = 1_800_000_000_000;
    let random = 0;
    const edge = edgeAround(type, each.config, { clock: () => nowMs, random: () => random });
    for (const exchanged of each.exchanges) {
      nowMs += exchanged.afterMs ?? 0;
      random = exchanged.random ?? 0;
      const request = { url: 'https://shop.test/', ...exchanged.request };
      const { clientIp, tls } = exchanged;
      const facts = { ...(clientIp !== undefined && { clientIp }), ...(tls !== undefined && { tls }) };
      const decision = edge.decide(request, facts, exchanged.upstream);
      const step = decision.trace.find((one) => one.module === type)!;
      for (const one of decision.trace) if (one.module === type) reached.add(one.code);
      expectOutcome(exchanged, step.code, decision);
    }
  });

  it('has a case for every declared reason', () => {
    const elsewhere = REACHED_ELSEWHERE[type] ?? [];
    const codes = Object.keys(module.reasons).filter(
      (code) => !elsewhere.includes(code) || reached.has(code),
    );
    expect([...reached].sort()).toEqual(codes.sort());
  });

  it('does nothing when it is disabled', () => {
    const [first] = cases;
    if (first === undefined || type === 'backend') return;
    const edge = edgeAround(type, { ...first.config, enabled: false }, {});
    const decision = edge.decide({ url: 'https://shop.test/' });
    expect(decision.trace.map((step) => step.module)).not.toContain(type);
    expect(decision.status).toBe(200);
  });
});

function expectOutcome(
  exchanged: Exchanged,
  code: string,
  decision: ReturnType<ReturnType<typeof edgeAround>['decide']>,
): void {
  const { expect: wanted } = exchanged;
  expect({ code, status: decision.status }).toEqual({ code: wanted.code, status: wanted.status });
  expect(decision.event.object.http.response.status_code).toBe(wanted.status);
  if (wanted.backend !== undefined) expect(decision.backend).toBe(wanted.backend);
  const upstream = sentUpstream(decision.exchange);
  for (const [name, value] of Object.entries(wanted.upstreamHeaders ?? {})) {
    expect(firstValue(upstream!.headers, name) ?? null).toBe(value);
  }
  for (const [name, value] of Object.entries(wanted.responseHeaders ?? {})) {
    expect(firstValue(decision.exchange.response!.headers, name) ?? null).toBe(value);
  }
}
