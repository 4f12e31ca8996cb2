import { describe, expect, it } from 'vitest';

import { compile, coverageOf, explain, tracer } from '../../src/cel/index.ts';
import { request, SCOPE } from './request_scope.ts';
import type { Request } from './request_scope.ts';

function programOf(source: string) {
  const { program, diagnostics } = compile(source, SCOPE);
  if (program === undefined) throw new Error(diagnostics.map((one) => one.message).join('; '));
  return program;
}

/** Each sub-expression with its value, or why it has none. */
function told(source: string, over: Partial<Request> = {}) {
  return explain(programOf(source), request(over)).steps.map((step) => {
    const text = source.slice(step.span.start, step.span.end);
    return step.skipped === undefined ? [text, step.outcome] : [text, `skipped: ${step.skipped.reason}`];
  });
}

describe('explain', () => {
  it('returns the value of every sub-expression and what was short-circuited', () => {
    expect(told("req.method == 'POST' && req.url.path.startsWith('/api')")).toEqual([
      ["req.method == 'POST' && req.url.path.startsWith('/api')", false],
      ["req.method == 'POST'", false],
      ['req.method', 'GET'],
      ["req.url.path.startsWith('/api')", 'skipped: `&&` was decided: this side is false'],
      ['req.url.path', 'skipped: `&&` was decided: this side is false'],
      ['req.url', 'skipped: `&&` was decided: this side is false'],
    ]);
  });

  it('explains chains that are evaluated as one', () => {
    const source = "req.method == 'PUT' || req.method == 'GET' || req.method == 'POST'";
    expect(told(source)).toEqual([
      [source, true],
      ["req.method == 'PUT'", false],
      ['req.method', 'GET'],
      ["req.method == 'GET'", true],
      ['req.method', 'GET'],
      ["req.method == 'POST'", 'skipped: `||` was decided: this side is true'],
      ['req.method', 'skipped: `||` was decided: this side is true'],
    ]);
    const sum = "req.method + '/' + req.method";
    expect(told(sum)).toEqual([
      [sum, 'GET/GET'],
      ["req.method + '/'", 'GET/'],
      ['req.method', 'GET'],
      ['req.method', 'GET'],
    ]);
  });

  it('shows the skipped branch, the error that stopped, and the empty loop', () => {
    expect(told("req.method == 'GET' ? req.tags.size() : 0")).toContainEqual(['req.tags.size()', 2]);
    expect(told('req.content_length + size(req.tags) > 1')).toContainEqual([
      'size(req.tags)',
      'skipped: an operand is an error',
    ]);
    expect(told("req.tags.exists(t, t == 'b')", { tags: [] })).toContainEqual([
      "t == 'b'",
      'skipped: there were no elements',
    ]);
    expect(told('optional.of(req.method).orValue(req.method + req.method)')).toContainEqual([
      'req.method + req.method',
      'skipped: the optional holds a value',
    ]);
  });

  it('shows the deciding iteration of a loop, and their number', () => {
    const program = programOf("req.tags.exists(t, t == 'b')");
    const { steps } = explain(program, request({ tags: ['a', 'b', 'c'] }));
    expect(
      steps.map((step) => [program.source.slice(step.span.start, step.span.end), step.outcome, step.times]),
    ).toEqual([
      ["req.tags.exists(t, t == 'b')", true, 1],
      ['req.tags', ['a', 'b', 'c'], 1],
      ["t == 'b'", true, 2],
      ['t', 'b', 2],
    ]);
  });

  it('shows the text of a string with fields, and folded constants', () => {
    expect(told("req.url == 'x' + 'y'")).toEqual([
      ["req.url == 'x' + 'y'", false],
      ['req.url', 'https://shop.example/api/v1'],
      ["'x' + 'y'", 'xy'],
    ]);
  });

  it('never mixes two evaluations of one tracer', () => {
    const { evaluate, steps } = tracer(
      programOf("req.method == 'POST' && (req.tags.exists(t, t == 'a') || req.tags == [])"),
    );
    evaluate(request({ method: 'POST' }));
    expect(steps().filter((step) => step.skipped === undefined)).toHaveLength(8);
    evaluate(request({ method: 'GET' }));
    expect(
      steps()
        .filter((step) => step.skipped === undefined)
        .map((step) => step.outcome),
    ).toEqual([false, false, 'GET']);
  });
});

describe('coverage', () => {
  it('counts both outcomes of every boolean node under stable ids', () => {
    const source = "req.method == 'GET' && (req.tags.exists(t, t == 'a') || has(req.content_length))";
    const coverage = coverageOf(programOf(source));
    coverage.evaluate(request());
    coverage.evaluate(request({ tags: [] }));
    coverage.evaluate(request({ method: 'POST' }));
    expect(
      coverage.nodes().map((node) => [source.slice(node.span.start, node.span.end), node.yes, node.no]),
    ).toEqual([
      [source, 1, 2],
      ["req.method == 'GET'", 2, 1],
      ["req.tags.exists(t, t == 'a') || has(req.content_length)", 1, 1],
      ["req.tags.exists(t, t == 'a')", 1, 1],
      ["t == 'a'", 1, 0],
      ['has(req.content_length)', 0, 1],
    ]);
    expect(
      coverageOf(programOf(source))
        .nodes()
        .map((node) => node.id),
    ).toEqual(coverage.nodes().map((node) => node.id));
  });
});
