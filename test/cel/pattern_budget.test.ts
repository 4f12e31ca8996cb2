import { cpuMs } from '../cpu_time.ts';
import { describe, expect, it } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';
import { compile } from '../../src/cel/program.ts';
import { EvalError } from '../../src/cel/values.ts';
import { compilePattern, isPatternProblem } from '../../src/regex/pattern.ts';
import { scopeFor } from '../../src/policy/env/scopes.ts';

/** A pattern of about 7,200 instructions that engines cannot optimise. */
const LARGE = '(?:x+x+x+){1,900}y';
const LONG_TEXT = 'x'.repeat(16_000);

function outcomeOf(source: string): unknown {
  const { program, diagnostics } = compile(source, scopeFor('on_http_request'));
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  return program!.evaluate({} as never);
}

const codeOf = (outcome: unknown): unknown => (outcome instanceof EvalError ? outcome.code : outcome);

describe('the work of patterns counts in the budget', () => {
  it('the pattern of these tests is large', () => {
    const pattern = compilePattern(LARGE);
    expect(isPatternProblem(pattern)).toBe(false);
    if (!isPatternProblem(pattern)) expect(pattern.programInstructions).toBeGreaterThan(5_000);
  });

  it.each([
    ['once', `"${LONG_TEXT}".substring(0).matches('${LARGE}')`],
    ['in a loop', `lists.range(20).exists(i, ("${LONG_TEXT}" + string(i)).matches('${LARGE}'))`],
    ['one that is not constant', `lists.range(20).exists(i, "${LONG_TEXT}".matches('${LARGE}' + string(i)))`],
    [
      'many that are compiled',
      `lists.range(200).exists(i, 'a'.matches('(?:abc){300}' + string(i) + '(?:[a-z]{3}){300}'))`,
    ],
  ])('%s: an early error', (_name, source) => {
    const took = cpuMs(() => expect(codeOf(outcomeOf(source))).toBe('expr.budget_exceeded'));
    expect(took).toBeLessThan(3_000);
  });

  it('many patterns that are too large to compile fail early', () => {
    const source = `lists.range(2000).exists(i, 'a'.matches('(?:[a-z]{10}){1000}' + string(i)))`;
    expect(cpuMs(() => expect(outcomeOf(source)).toBeInstanceOf(EvalError))).toBeLessThan(3_000);
  });

  it('common patterns and texts are far below it', () => {
    const agent =
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126 Safari/537.36';
    const bots = Array.from(
      { length: 40 },
      (_, at) => `(?:crawler|spider${at})[-/ ]?[0-9]+(?:\\\\.[0-9]+)*`,
    ).join('|');
    expect(outcomeOf(`"${agent}".substring(0).matches('${bots}')`)).toBe(false);
    expect(
      outcomeOf(`lists.range(100).exists(i, ("${agent}" + string(i)).matches('(?i)[a-z]+bot/[0-9]+'))`),
    ).toBe(false);
  });
});

describe('a policy with such a pattern', () => {
  const edge = (expression: string) =>
    createEdge({
      backends: { app: { static: { address: '127.0.0.1:9' } } },
      edges: {
        https: {
          a: {
            hostports: ['a.test:443'],
            routes: [
              {
                match_type: 'path_prefix',
                match: '/',
                traffic_policy: {
                  value: JSON.stringify({
                    on_http_request: [
                      {
                        expressions: [expression],
                        actions: [{ type: 'deny', config: { status_code: 403 } }],
                      },
                    ],
                  }),
                },
                backend: { backend_id: 'app' },
              },
            ],
          },
        },
      },
    });

  it('never passes a request because the budget is exhausted', () => {
    const denying = edge(`lists.range(20).exists(i, req.headers['x-long'][0].matches('${LARGE}'))`);
    const asked = { method: 'GET', url: 'https://a.test/', headers: { 'x-long': LONG_TEXT } };
    const took = cpuMs(() => expect(denying.decide(asked).status).toBeGreaterThanOrEqual(400));
    expect(took).toBeLessThan(3_000);
  });
});

describe('filters of user agents', () => {
  const config = (deny: readonly string[]) => ({
    backends: { app: { static: { address: '127.0.0.1:9' } } },
    edges: {
      https: {
        a: {
          hostports: ['a.test:443'],
          routes: [
            {
              match_type: 'path_prefix',
              match: '/',
              user_agent_filter: { deny },
              backend: { backend_id: 'app' },
            },
          ],
        },
      },
    },
  });

  it('lists that are too large together are refused at their place', () => {
    const many = Array.from({ length: 13 }, (_, at) => `(?:x+x+x+){1,900}${at}`);
    expect(() => createEdge(config(many))).toThrow(/instructions together; at most 10000 are allowed/);
  });

  it('decide in bounded time, and block what would take longer', () => {
    const edge = createEdge(config(['(?:x+x+x+){1,900}y']));
    const asked = (agent: string): number => {
      let status = 0;
      const request = { method: 'GET', url: 'https://a.test/', headers: { 'user-agent': agent } };
      expect(cpuMs(() => ({ status } = edge.decide(request)))).toBeLessThan(3_000);
      return status;
    };
    expect(asked(LONG_TEXT)).toBe(403);
    expect(asked('x'.repeat(300))).toBe(200);
  });
});
