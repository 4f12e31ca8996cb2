import { describe, expect, it } from 'vitest';
import { brandingOf } from '../../../src/engine/branding.ts';
import { type CheckedPolicy, checkPolicyText } from '../../../src/policy/document/check.ts';
import type { PolicySetting } from '../../../src/policy/document/setting.ts';
import { sharedChecks } from '../../../src/policy/document/shared_checks.ts';
import { PARTS_OF_STEP } from '../../../src/config_file/steps.ts';

const setting: PolicySetting = { branding: brandingOf('service'), attachedTo: 'https_edge', ipPolicies: [] };
const padding = Array.from({ length: 400 }, (_, number) => ({
  expressions: [`conn.client_port == ${number}`],
  actions: [{ type: 'deny' }],
}));

function policyOf(...actions: readonly object[]): string {
  return JSON.stringify({ on_http_request: [...padding, ...actions.map((each) => ({ actions: [each] }))] });
}

/** Each check reads the actions again, so a shared configuration of an action shows a shared check. */
function configOf({ document }: CheckedPolicy): object {
  return document!.phases.on_http_request[0]!.actions[0]!.config;
}

/** How many of the settings need a check of their own. */
function checksOf(text: string, settings: readonly Partial<PolicySetting>[]): number {
  const { check } = sharedChecks();
  const checked = settings.map((each, at) => check({ pointer: `/${at}`, text }, { ...setting, ...each }));
  return new Set(checked.map(configOf)).size;
}

describe('the check of a large policy', () => {
  it('is shared by all places of the text, and its pointers are those of each place', () => {
    const { check } = sharedChecks();
    const [one, other] = ['/one', '/other'].map((pointer) => check({ pointer, text: policyOf() }, setting));
    expect(configOf(other!)).toBe(configOf(one!));
    const [rule] = other!.document!.phases.on_http_request;
    expect(rule!.pointer).toBe('/other/on_http_request/0');
    expect(rule!.expressions[0]!.pointer).toBe('/other/on_http_request/0/expressions/0');
  });

  it('is shared by edges with different hosts, unless an action reads them', () => {
    const hosts = [{ hosts: ['a.test'] }, { hosts: ['b.test'] }, { hosts: ['a.test'] }];
    expect(checksOf(policyOf(), hosts)).toBe(1);
    const url = 'https://one.internal';
    const forward = policyOf({ type: 'forward-internal', config: { url } });
    const internal = [{ internalHosts: ['one.internal'] }, { internalHosts: ['one.internal', 'b.internal'] }];
    expect(checksOf(forward, hosts)).toBe(1);
    expect(checksOf(forward, internal)).toBe(2);
    expect(checksOf(policyOf(), internal)).toBe(1);
  });

  it('is not shared by other services and kinds of endpoints', () => {
    const other = { branding: brandingOf('other') };
    expect(checksOf(policyOf(), [{}, other, {}])).toBe(2);
    expect(checksOf(policyOf(), [{}, { attachedTo: 'http' }])).toBe(2);
    expect(checksOf(policyOf(), [{}, { attachedTo: 'internal_endpoint' }])).toBe(2);
  });

  it('finds errors in each place', () => {
    const { check } = sharedChecks();
    const text = policyOf({ type: 'nonsense' });
    const found = ['/one', '/other'].map((pointer) => check({ pointer, text }, setting).diagnostics);
    expect(found.map(([first]) => first!.pointer)).toEqual(
      ['/one', '/other'].map((at) => `${at}/on_http_request/400/actions/0/type`),
    );
  });
});

describe('the check of a large policy ahead', () => {
  const at = (pointer: string, text: string) => ({ pointer, text });
  const stepsOf = (work: Iterator<void>): number => {
    let steps = 1;
    while (work.next().done !== true) steps++;
    return steps;
  };

  it('is done in steps, and found by the check of the same place and of others', () => {
    const { check, ahead } = sharedChecks();
    const text = policyOf();
    expect(stepsOf(ahead(at('/one', text), setting))).toBeGreaterThan(
      3 * Math.floor(padding.length / PARTS_OF_STEP),
    );
    expect(stepsOf(ahead(at('/one', text), setting))).toBe(1);
    const one = check(at('/one', text), setting);
    expect(one).toBe(check(at('/one', text), setting));
    expect(configOf(check(at('/other', text), setting))).toBe(configOf(one));
    const other = check(at('/one', text), { ...setting, branding: brandingOf('other') });
    expect(configOf(other)).not.toBe(configOf(one));
  });

  it('has the findings of the check, for its place only, until it is forgotten', () => {
    const { check, ahead, forget } = sharedChecks();
    const text = policyOf(
      { type: 'nonsense' },
      { type: 'deny' },
      { type: 'deny', config: { status_code: 7 } },
    );
    stepsOf(ahead(at('/one', text), setting));
    const found = check(at('/one', text), setting);
    expect(found.document).toBeNull();
    expect(found.diagnostics.length).toBeGreaterThan(1);
    expect(found).toEqual(checkPolicyText(at('/one', text), setting));
    expect(check(at('/one', text), setting)).toBe(found);
    expect(check(at('/other', text), setting)).toEqual(checkPolicyText(at('/other', text), setting));
    forget();
    expect(check(at('/one', text), setting)).not.toBe(found);
  });

  it('leaves small policies to the check', () => {
    const { ahead } = sharedChecks();
    expect(stepsOf(ahead(at('', '{}'), setting))).toBe(1);
  });
});
