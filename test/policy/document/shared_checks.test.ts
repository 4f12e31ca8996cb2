import { describe, expect, it } from 'vitest';
import { brandingOf } from '../../../src/engine/branding.ts';
import type { CheckedPolicy } from '../../../src/policy/document/check.ts';
import type { PolicySetting } from '../../../src/policy/document/setting.ts';
import { sharedChecks } from '../../../src/policy/document/shared_checks.ts';

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
