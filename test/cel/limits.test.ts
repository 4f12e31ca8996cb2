import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';

import { check, compile } from '../../src/cel/index.ts';
import { EVALUATION_BUDGET, MAX_DEPTH, MAX_NODES, MAX_SOURCE_LENGTH } from '../../src/cel/limits.ts';
import { compilePattern } from '../../src/regex/pattern.ts';
import { request, SCOPE } from './request_scope.ts';
import type { Request } from './request_scope.ts';
import { runs } from '../random.ts';

function evaluate(source: string, over: Partial<Request> = {}) {
  const { program, diagnostics } = compile(source, SCOPE);
  if (program === undefined) throw new Error(diagnostics.map((one) => one.message).join('; '));
  return program.evaluate(request(over));
}

function refusal(source: string) {
  return check(source, SCOPE).diagnostics.find((one) => one.severity === 'error');
}

describe('limits of a source', () => {
  it('refuses longer sources', () => {
    expect(refusal(`'${'a'.repeat(MAX_SOURCE_LENGTH)}'`)).toMatchObject({ code: 'expr.too_long' });
    expect(refusal(`'${'a'.repeat(MAX_SOURCE_LENGTH - 2)}'`)).toBeUndefined();
  });

  it.each([
    ['brackets', (depth: number) => `${'('.repeat(depth)}1${')'.repeat(depth)}`],
    ['lists', (depth: number) => `${'['.repeat(depth)}1${']'.repeat(depth)}`],
    ['calls', (depth: number) => `${'dyn('.repeat(depth)}1${')'.repeat(depth)}`],
    ['sums', (depth: number) => `1${' + 1'.repeat(depth)}`],
    ['fields', (depth: number) => `vars${'.a'.repeat(depth)}`],
    ['indexes', (depth: number) => `vars['a']${'[0]'.repeat(depth)}`],
    ['conditionals', (depth: number) => `${'true ? 1 : '.repeat(depth)}1`],
    ['loops', (depth: number) => `${'[1].map(x, '.repeat(depth)}x${')'.repeat(depth)}`],
    ['signs', (depth: number) => `${'-('.repeat(depth)}1${')'.repeat(depth)}`],
  ])('refuses %s that nest deeper, without overflowing its own stack', (_name, nest) => {
    expect(refusal(nest(MAX_DEPTH + 5))).toMatchObject({ code: 'expr.syntax' });
    expect(refusal(nest(3_000))).toMatchObject({ code: expect.stringMatching(/syntax|too_long/) });
    expect(refusal(nest(MAX_DEPTH - 5))).toBeUndefined();
  });

  it('allows chains of && and || of any length', () => {
    const chain = Array.from({ length: 1_000 }, () => 't').join(' || ');
    const source = `req.tags.exists(t, ${chain.replaceAll('t', "t == 'z'")})`;
    expect(evaluate(source)).toBe(false);
  });

  it('refuses more nodes', () => {
    expect(refusal(`[${'1,'.repeat(MAX_NODES)}]`)?.message).toMatch(/nodes/);
    expect(refusal(`[${'1,'.repeat(MAX_NODES - 2)}]`)).toBeUndefined();
  });
});

describe('the budget of an evaluation', () => {
  const numbers = `[${Array.from({ length: 100 }, (_, index) => index).join(',')}]`;

  it.each([
    [
      'nested loops',
      `${numbers}.all(a, ${numbers}.all(b, ${numbers}.all(c, ${numbers}.all(d, a + b + c + d >= 0))))`,
    ],
    ['doubled strings', doubling('req.method', 40, 'v')],
    ['doubled lists', doubling('req.tags', 40, 'v')],
    ['shared lists, compared', shared(40)],
    ['long strings in loops', longLoop('size(s) > 0')],
    ['long strings compared in loops', longLoop("s == r + ''")],
    ['long strings ordered in loops', longLoop('s <= r')],
    ['long strings searched in loops', longLoop("!s.contains('zz')")],
    ['long strings at their ends in loops', longLoop('s.startsWith(r)')],
    [
      'long lists searched in loops',
      `cel.bind(l, ('${'a,'.repeat(9_000)}').split(','), l.all(x, !('zz' in l)))`,
    ],
    [
      'patterns compiled in loops',
      `cel.bind(l, ('${'a,'.repeat(9_000)}').split(','), l.all(x, !'y'.matches(x + 'b+' + req.method)))`,
    ],
    ['shared lists, printed', shared(30).replace('a30 == b30', "'%s%s'.format([a30, b30]) != ''")],
    [
      'named time zones',
      `${numbers}.all(a, ${numbers}.all(b, timestamp('2026-03-01T10:20:30Z').getHours(b > 50 ? 'Asia/Tokyo' : 'Europe/Berlin') >= 0))`,
    ],
    ['replaced strings', `cel.bind(a, req.vars_, a)`.replace('req.vars_', doublingReplace(12))],
  ])('stops %s with an error value', (_name, source) => {
    const started = performance.now();
    expect(evaluate(source)).toMatchObject({ code: expect.stringMatching(/budget|limit/) });
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it('is reset for the next evaluation', () => {
    const { program } = compile(`${numbers}.all(a, ${numbers}.all(b, a + b >= 0))`, SCOPE);
    for (let count = 0; count < 50; count += 1) expect(program?.evaluate(request())).toBe(true);
    expect(EVALUATION_BUDGET).toBe(1_000_000);
  });

  it('limits folding at plan time', () => {
    const started = performance.now();
    compile(doubling("'a'", 60, 'v'), SCOPE);
    compile(`${"('a' + ".repeat(200)}'a'${')'.repeat(200)}`, SCOPE);
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});

/** `v1 = v0 + v0, v2 = v1 + v1, …`: twice the size at each step. */
function doubling(first: string, steps: number, name: string): string {
  let source = `size(${name}${steps}) > 0`;
  for (let step = steps; step > 0; step -= 1) {
    source = `cel.bind(${name}${step}, ${name}${step - 1} + ${name}${step - 1}, ${source})`;
  }
  return `cel.bind(${name}0, ${first}, ${source})`;
}

function doublingReplace(steps: number): string {
  let source = `'${'a'.repeat(64)}' + req.method`;
  for (let step = 0; step < steps; step += 1) source = `(${source}).replace('a', 'aaaa')`;
  return source;
}

/** A condition over two equal strings of 90,000 characters, evaluated 9,000 times. */
function longLoop(condition: string): string {
  const long = `req.method.replace('G', '${'x'.repeat(300)}').replace('x', '${'a'.repeat(300)}')`;
  const list = `'${'a,'.repeat(9_000)}'.split(',')`;
  return `cel.bind(s, ${long}, cel.bind(r, ${long}, ${list}.all(x, ${condition})))`;
}

/** Two trees that are small in memory and huge when walked. */
function shared(steps: number): string {
  const tree = (name: string, inner: string): string => {
    let source = inner;
    for (let step = steps; step > 0; step -= 1) {
      source = `cel.bind(${name}${step}, [${name}${step - 1}, ${name}${step - 1}], ${source})`;
    }
    return `cel.bind(${name}0, req.tags, ${source})`;
  };
  return tree('a', tree('b', `a${steps} == b${steps}`));
}

describe('patterns', () => {
  const subject = `${'a'.repeat(10_000)}!`;

  it.each([
    '(a+)+$',
    '(a|a)*$',
    '(a|aa)+$',
    '(.*a){12}$',
    '^(a?){50}a{50}$',
    '([a-zA-Z]+)*$',
    'a*a*a*a*a*a*b',
    '(x+x+)+y',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    '.*.*=.*',
  ])('match in time linear in the subject: %s', (pattern) => {
    const { program } = compile(`req.method.matches('${pattern}')`, SCOPE);
    const asked = request({ method: subject });
    // Warm-up, so that the machine code exists: measured is the time of a match, not of the first compilation.
    program?.evaluate(asked);
    const times = Array.from({ length: 5 }, () => {
      const started = process.cpuUsage();
      program?.evaluate(asked);
      const { user, system } = process.cpuUsage(started);
      return (user + system) / 1_000;
    });
    expect(Math.min(...times)).toBeLessThan(50);
  });

  it('do not leak memory over many compilations', () => {
    compileSome(0, runs(5_000));
    const before = used();
    compileSome(5_000, runs(25_000));
    expect(used() - before).toBeLessThan(24 * 1_048_576);
    expect('test' in compilePattern('a')).toBe(true);
  });
});

/** Two patterns per iteration: one compiled with the program, one at run time. */
function compileSome(from: number, count: number): void {
  for (let index = from; index < from + count; index += 1) {
    compile(`req.method.matches('^/v${index}/[a-z]+(x|y)*$')`, SCOPE);
    evaluate(`req.method.matches('b${index}' + req.method)`);
  }
}

// Without a garbage collection the heap size varies.
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function used(): number {
  collect();
  return process.memoryUsage().heapUsed;
}
