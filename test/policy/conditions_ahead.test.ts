import { expect, it } from 'vitest';
import { atOnce } from '../../src/config_file/steps.ts';
import { brandingOf } from '../../src/engine/branding.ts';
import { compilePolicy } from '../../src/policy/compile.ts';
import { conditionsAhead } from '../../src/policy/conditions_ahead.ts';
import { checkPolicyText } from '../../src/policy/document/check.ts';
import { plainJson } from '../../src/config_file/plain_json.ts';
import type { PolicyContext } from '../../src/filters/action.ts';

const branding = brandingOf('service');
const RULES = 1_000;

function policyOf(rules: number): string {
  const rule = (number: number) => ({
    expressions: [`conn.client_port == ${number}`, `req.method == 'M${number}'`],
    actions: [{ type: 'deny' }],
  });
  return JSON.stringify({ on_http_request: Array.from({ length: rules }, (_, number) => rule(number)) });
}

/** The programs of all conditions of a policy, compiled for a place. */
function programsAt(pointer: string, text: string) {
  const { document } = checkPolicyText(
    { pointer, text },
    { branding, attachedTo: 'https_edge', ipPolicies: [] },
  );
  const context = { branding, refusal: () => null, trace: 'decided' } as unknown as PolicyContext;
  const { rules } = compilePolicy(document!, context).request!;
  return rules.flatMap(({ conditions }) => conditions.map(({ program }) => program));
}

it('compiles in slices what the check and the compilation of all places then share', () => {
  const text = policyOf(RULES);
  const work = conditionsAhead(plainJson(text), 'service');
  let slices = 1;
  let step = work.next();
  for (; step.done !== true; step = work.next()) slices++;
  expect(slices).toBeGreaterThan(5);
  expect(step.value).toHaveLength(2 * RULES);
  for (const place of ['/one', '/other']) {
    const programs = programsAt(place, text);
    expect(programs.every((program, index) => program === step.value[index])).toBe(true);
  }
});

it('finds the same in a condition each time', () => {
  const text = JSON.stringify({
    on_http_request: [{ expressions: ['req.nonsense == 1', '1 =='], actions: [{ type: 'deny' }] }],
  });
  const check = () => {
    const setting = { branding, attachedTo: 'https_edge', ipPolicies: [] } as const;
    return checkPolicyText({ pointer: '', text }, setting).diagnostics.map(({ message }) => message);
  };
  const first = check();
  expect(first).toHaveLength(2);
  expect(atOnce(conditionsAhead(plainJson(text), 'service'))).toHaveLength(2);
  expect(check()).toEqual(first);
});

it.each([
  '',
  'a: [',
  '[]',
  '{"on_http_request": 7}',
  '{"on_http_request": [7, {"expressions": 7}, {"expressions": [7]}]}',
])('leaves %j to the check', (text) => {
  expect(atOnce(conditionsAhead(plainJson(text), 'service'))).toEqual([]);
});
