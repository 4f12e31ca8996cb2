import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { formatPolicy } from '../../../src/policy/document/format.ts';
import { formatEmbeddedPolicies } from '../../../src/policy/document/format_embedded.ts';
import { policyText } from './documents.ts';
import { sized } from '../../random.ts';

const OLD = `# the lane
inbound:
- actions: [{ type: deny, config: {status_code: 404} }] # no client
  expressions: ["req.method == 'PUT'"]
`;

function formatted(text: string): string {
  const result = formatEmbeddedPolicies(text);
  return 'text' in result ? result.text : result.message;
}

function indented(text: string, by: number): string {
  return text.replaceAll(/^(?=.)/gm, ' '.repeat(by));
}

function edgeOf(value: string): string {
  return `# an edge
edges:
  https:
    shop:
      hostports: ['shop.test:443'] # the shop
      routes:
        - match: /
          traffic_policy:
            value: ${value}
            enabled: true   # on
backends: {}
`;
}

function policyIn(text: string): string {
  return (parse(text) as { edges: { https: { shop: { routes: { traffic_policy: { value: string } }[] } } } })
    .edges.https.shop.routes[0]!.traffic_policy.value;
}

describe('policies in edge files', () => {
  const canonical = (formatPolicy(OLD) as { text: string }).text;

  it('in a block scalar: its header and its indentation stay, comments in and around it too', () => {
    const before = edgeOf(`| # the policy\n${indented(OLD, 16).trimEnd()}`);
    const after = formatted(before);
    expect(after).toBe(edgeOf(`| # the policy\n${indented(canonical, 16).trimEnd()}`));
    expect(after).toContain('# no client');
    expect(formatted(after)).toBe(after);
    expect(canonical).toContain('on_http_request:');
  });

  it.each(['|-', '|+', '>-', '|2-'])('in a block scalar with the header %s', (header) => {
    const json = '{"inbound": [{"actions": [{"type": "deny"}]}]}';
    const before = edgeOf(`${header}\n${header === '|2-' ? indented(json, 14) : indented(json, 16)}`);
    const after = formatted(before);
    expect(JSON.parse(policyIn(after))).toEqual({ on_http_request: [{ actions: [{ type: 'deny' }] }] });
    expect(after.split('\n').at(-3)).toBe('            enabled: true   # on');
    expect(formatted(after)).toBe(after);
  });

  it.each([
    ['single quotes', `'{"inbound": [{"actions": [{"type": "deny"}], "name": "it''s"}]}'`],
    ['double quotes', JSON.stringify('{"inbound": [{"actions": [{"type": "deny"}], "name": "it\'s"}]}')],
  ])('as JSON on one line in %s: on one line still', (_name, value) => {
    const after = formatted(edgeOf(value));
    expect(policyIn(after)).toBe('{"on_http_request":[{"name":"it\'s","actions":[{"type":"deny"}]}]}');
    expect(after.split('\n')).toHaveLength(edgeOf(value).split('\n').length);
    expect(formatted(after)).toBe(after);
  });

  it('as YAML in an edge that is JSON', () => {
    const before = JSON.stringify({
      edges: { https: { shop: { routes: [{ traffic_policy: { value: OLD } }] } } },
    });
    const after = formatted(before);
    expect(policyIn(after)).toBe(canonical);
    expect(formatted(after)).toBe(after);
  });

  it('more than one, and canonical ones are unchanged', () => {
    const text = `edges:\n  https:\n    a:\n      routes:\n${[OLD, canonical, OLD]
      .map((each) => `        - traffic_policy:\n            value: |\n${indented(each, 14)}`)
      .join('')}`;
    const after = formatted(text);
    expect(after.split(indented(canonical, 14)).length).toBe(4);
    expect(after).not.toContain('inbound');
  });

  it('reports which one has no canonical form', () => {
    expect(formatted(edgeOf(`'[1, 2'`))).toMatch(/^\/edges\/https\/shop\/routes\/0\/traffic_policy\/value: /);
  });

  it('changes only policies, whatever they are', () => {
    fc.assert(
      fc.property(policyText, fc.constantFrom('block', 'double', 'json'), (policy, style) => {
        const value = style === 'block' ? `|\n${indented(policy, 14).trimEnd()}` : JSON.stringify(policy);
        const before = style === 'json' ? JSON.stringify(parse(edgeOf(value))) : edgeOf(value);
        const after = formatEmbeddedPolicies(before);
        if ('message' in after) return;
        const again = formatPolicy(policyIn(before));
        expect('text' in again && (parse(policyIn(after.text)) as unknown)).toEqual(
          'text' in again && parse(again.text),
        );
        expect(formatted(after.text)).toBe(after.text);
        const around = (text: string) => ({
          ...(parse(text.replace(/value[\s\S]*enabled/, 'enabled')) as object),
        });
        if (style !== 'json') expect(around(after.text)).toEqual(around(before));
      }),
      sized(150, 4_711),
    );
  });
});
