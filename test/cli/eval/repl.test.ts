import { describe, expect, test } from 'vitest';
import { complete } from '../../../src/cel/expression_completion.ts';
import type { ExpressionInput } from '../../../src/cli/expression_input.ts';
import { answerTo, COMMAND_NAMES } from '../../../src/cli/repl_session.ts';
import { scopeFor } from '../../../src/policy/env/scopes.ts';
import { activation } from '../../policy/env/exchange.ts';
import { run } from './run.ts';

const input = (): ExpressionInput => ({
  phase: 'on_http_request',
  service: 'service',
  scope: scopeFor('on_http_request'),
  activation: activation(),
});

/** Answers to consecutive input lines. */
function answers(...lines: readonly string[]): readonly string[] {
  let now = input();
  return lines.map((line) => {
    const answer = answerTo(line, now, { color: false });
    now = answer.input;
    return answer.text;
  });
}

describe('lines', () => {
  test('are evaluated, and errors are shown with a caret', () => {
    const [value, empty, unknown, failed] = answers(
      'req.method',
      '  ',
      'req.methud',
      "req.headers['x-none']",
    );
    expect([value, empty]).toEqual(["'GET'", '']);
    expect(unknown).toContain("^^^^^^ did you mean 'method'?");
    expect(failed).toContain('no such key `x-none`');
  });

  test('may set variables and change the phase', () => {
    expect(
      answers(
        ':set a = [1, 2]',
        'vars.a[1]',
        ':set b = vars.a.size()',
        'vars',
        ':set b == 1',
        ':set c = nope',
      ),
    ).toEqual([
      'vars.a = [1, 2]',
      '2',
      'vars.b = 2',
      "{'a': [1, 2], 'b': 2}",
      'write :set NAME = EXPRESSION',
      expect.stringContaining('nope'),
    ]);
    expect(answers(':phase', ':phase on_http_response', 'res.status_code', ':phase x', ':phase')).toEqual([
      'on_http_request',
      'phase on_http_response',
      '200',
      expect.stringContaining('on_tcp_connect'),
      'on_http_response',
    ]);
  });

  test('may request types, explanations and help', () => {
    expect(answers(':type req.url', ':type req.headers', ':type 1 +', ':type')).toEqual([
      'string',
      'map(string, list(string))',
      expect.stringContaining('error'),
      ':type needs an expression',
    ]);
    const [explained, help, variable, func, near, nothing] = answers(
      ':explain false && req.method == "x"',
      ':help',
      ':help req.method',
      ':help url.parse',
      ':help url.pars',
      ':help zzzzzz',
    );
    expect(explained).toContain('skipped');
    expect(COMMAND_NAMES.filter((name) => !help!.includes(name))).toEqual([]);
    expect(variable).toContain('Method, as received.');
    expect(func).toContain("url.parse('https://");
    expect(near).toContain("did you mean 'url.parse'?");
    expect(nothing).toBe("there is no variable or function 'zzzzzz'");
  });

  test('commands may be shortened; unknown ones are reported', () => {
    expect(answers(':t 1', ':tpye 1', ':zzz', ':')).toEqual([
      'int',
      'there is no command :tpye; did you mean :type?',
      'there is no command :zzz; :help lists them',
      'there is no command :; :help lists them',
    ]);
    expect(answerTo(':quit', input(), { color: false }).ends).toBe(true);
  });
});

const at = (line: string): readonly string[] => complete(line, scopeFor('on_http_request')).candidates;

describe('completion', () => {
  test.each([
    ['re', ['req']],
    ['req.me', ['req.method']],
    ['1 + req.url.sch', ['req.url.scheme']],
    ['conn.client_ip.geo.location.time', ['conn.client_ip.geo.location.timezone']],
    ['hash.xx', ['hash.xxhash64(']],
    ['getReqC', ['getReqCookie(']],
    ['req.method.startsW', ['req.method.startsWith(']],
    ['req.url.startsW', ['req.url.startsWith(']],
    ["'a'.startsW", ['startsWith(']],
    ['[1].exists_', ['exists_one(']],
    ['getReqHeader("a").sortB', ['sortBy(']],
    ['req.headers.exists_', ['req.headers.exists_one(']],
    ['conn.client_ip.isPriv', ['conn.client_ip.isPrivateIp(']],
    ['zzz', []],
    ['req.nope.x', []],
  ])('%s', (line, expected) => {
    expect(at(line)).toEqual(expected);
  });

  test('offers only names of the phase, fields and methods of a type', () => {
    expect(at('')).toEqual(expect.arrayContaining(['conn', 'req', 'vars', 'hash', 'inCidrRange(', 'has(']));
    expect(at('')).not.toContain('res');
    expect(complete('res.sta', scopeFor('on_http_response')).candidates).toEqual(['res.status_code']);
    const ofInt = at('conn.client_port.');
    expect(ofInt.filter((name) => name.includes('startsWith') || name.includes('exists'))).toEqual([]);
    expect(complete('a == req.ho', scopeFor('on_http_request')).word).toBe('req.ho');
  });

  test('every candidate of a path starts with the typed text', () => {
    for (const line of [
      'c',
      'req.',
      'req.url.',
      'conn.tls.',
      'hash.',
      'x + endpoint.',
      'req.user_agent.is',
    ]) {
      const { candidates, word } = complete(line, scopeFor('on_http_request'));
      expect(candidates.length).toBeGreaterThan(0);
      expect(candidates.filter((name) => !name.startsWith(word))).toEqual([]);
    }
  });
});

describe('edgeproof repl', () => {
  test('reads a pipe to its end and prints only results', async () => {
    const { code, stdout, stderr } = await run(
      ['repl', '--request', 'PUT https://shop.example/a', '-H', 'X-A: 1'],
      process.cwd(),
      ['req.method', ':set n = 2', 'vars.n + 1', "getReqHeader('x-a')"],
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe("'PUT'\nvars.n = 2\n3\n['1']\n");
  });

  test('quits at :quit, and refuses the options that eval refuses', async () => {
    expect(await run(['repl'], process.cwd(), ['1', ':quit', '2'])).toMatchObject({ code: 0, stdout: '1\n' });
    expect(await run(['repl', '-s', 'missing.yaml'], process.cwd())).toMatchObject({ code: 2, stdout: '' });
  });
});
