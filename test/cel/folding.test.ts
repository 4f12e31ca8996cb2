import { describe, expect, it } from 'vitest';
import { compile } from '../../src/cel/index.ts';
import { EvalError } from '../../src/cel/values.ts';
import { scopeFor } from '../../src/policy/env/scopes.ts';
import type { Activation } from '../../src/policy/env/activation.ts';

const scope = scopeFor('on_http_request');

/** Evaluates a constant: the activation is never looked at. */
function evaluate(source: string): unknown {
  const { program, diagnostics } = compile(source, scope);
  if (program === undefined) throw new Error(diagnostics[0]?.message);
  return program.evaluate({} as Activation);
}

describe('folding at plan time', () => {
  it('leaves expensive expressions to run time', () => {
    expect(evaluate('lists.range(30000).size() == 30000')).toBe(true);
  });

  it('keeps an error of a constant until run time, and never throws', () => {
    const outcome = evaluate("[dyn(null)].join() == 'a'");
    expect(outcome).toBeInstanceOf(EvalError);
    expect((outcome as EvalError).code).toBe('expr.no_such_overload');
  });
});
