import { describe, expect, test } from 'vitest';
import { atOnce } from '../../../src/config_file/steps.ts';
import { brandingOf } from '../../../src/engine/branding.ts';
import { ACTION_FACTS } from '../../../src/filters/table.ts';
import { checkAttachedPolicy, checkPolicy, checkPolicyValue } from '../../../src/policy/document/check.ts';
import { movedDocument } from '../../../src/policy/document/checked_policies.ts';
import type { PolicyDocument } from '../../../src/policy/document/document.ts';
import { unfrozen } from '../../unfrozen.ts';

const branding = brandingOf('service');
const POLICY = {
  on_http_request: [
    {
      name: 'no bots',
      expressions: ["req.url.path.startsWith('/a')"],
      actions: [
        { type: 'set-vars', config: { vars: [{ lane: { names: ['a', 'b'] } }] } },
        { type: 'custom-response', config: { status_code: 403, headers: { 'x-a': '1' } } },
      ],
    },
  ],
};
const TEXT = JSON.stringify(POLICY);

/** The source belongs to the caller. */
const unfrozenIn = (document: PolicyDocument | null): string[] => {
  expect(document).not.toBeNull();
  return unfrozen(document, ['/source']);
};

describe('a checked policy is deeply frozen', () => {
  test.each([
    ['a file', () => checkPolicy({ name: 'policy.json', text: TEXT }, { branding }).document],
    ['a string', () => checkAttachedPolicy({ pointer: '/value', text: TEXT }, { branding }).document],
    ['an object', () => checkPolicyValue(POLICY, { branding }).document],
    [
      'another place',
      () => atOnce(movedDocument(checkPolicyValue(POLICY, { branding }, '/a').document!, '/a', '/b')),
    ],
  ])('from %s', (_, read) => {
    const document = read();
    expect(unfrozenIn(document)).toEqual([]);
    const rules = document!.phases.on_http_request as unknown as { name: string; actions: unknown[] }[];
    expect(() => rules.push(rules[0]!)).toThrow(TypeError);
    expect(() => (rules[0]!.name = 'other')).toThrow(TypeError);
    expect(() => rules[0]!.actions.pop()).toThrow(TypeError);
    expect(() => Object.assign(document!, { enabled: false })).toThrow(TypeError);
  });

  test('and what the caller gave is not', () => {
    const given = structuredClone(POLICY);
    expect(checkPolicyValue(given, { branding }).document).not.toBeNull();
    expect(unfrozen(given)).toEqual(unfrozen(structuredClone(POLICY)));
  });

  test.each([...ACTION_FACTS.values()].map((facts) => [facts.type, facts] as const))(
    'also the configuration of %s, and not that of the caller',
    (type, { phases, examples }) => {
      for (const example of examples.good) {
        const config = structuredClone(example);
        const documents = phases.flatMap(
          (phase) =>
            checkPolicyValue({ [phase]: [{ actions: [{ type, config }] }] }, { branding }).document ?? [],
        );
        expect(documents.flatMap(unfrozenIn)).toEqual([]);
        expect(documents).not.toEqual([]);
        expect(unfrozen(config)).toEqual(unfrozen(structuredClone(example)));
      }
    },
  );
});
