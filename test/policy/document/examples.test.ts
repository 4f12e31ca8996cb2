import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { createEdge } from '../../../src/edgeproof.ts';
import { hasErrors } from '../../../src/diagnostics/diagnostic.ts';
import { brandingOf } from '../../../src/engine/branding.ts';
import { checkPolicy } from '../../../src/policy/document/check.ts';
import { onePolicy } from '../../one_route.ts';

/** The examples of the reference, verbatim, and the shapes that the specification names. */

const branding = brandingOf('service');

const EXAMPLES: Readonly<Record<string, string>> = {
  canary: `on_http_request:
  - expressions: ["!hasReqCookie('lane') && rand.double() < 0.1"]
    actions:
      - type: set-vars
        config: { vars: [ { lane: beta } ] }
      - type: add-headers
        config: { headers: { x-lane: "\${vars.lane}" } }
on_http_response:
  - actions:
      - type: add-headers
        config: { headers: { x-seen-by: "\${endpoint.host}" } }
`,
  dry_run_ips: `on_http_request:
  - actions:
      - type: restrict-ips
        config: { enforce: false, allow: ["10.0.0.0/8"] }
      - type: log
        config: { metadata: { verdict: "\${actions.service.restrict_ips.action}", cidr: "\${actions.service.restrict_ips.matched_cidr}" } }
  - expressions: ["actions.service.restrict_ips.action == 'deny' && req.url.path.startsWith('/admin')"]
    actions: [ { type: deny, config: { status_code: 404 } } ]
`,
  rewrite_then_limit: `on_http_request:
  - expressions: ["req.url.path.startsWith('/v1/')"]
    actions:
      - { type: url-rewrite, config: { from: "/v1/", to: "/api/1/" } }
      - type: rate-limit
        config: { name: per-key, algorithm: sliding_window, capacity: 30, rate: 60s, bucket_key: ["getReqHeader('X-Api-Key')", "conn.client_ip"] }
`,
  redirect_to_https: `on_http_request:
  - actions: [ { type: redirect, config: { from: "^http://([^/]+)(.*)$", to: "https://$1$2", status_code: 308 } } ]
`,
};

describe.each(Object.entries(EXAMPLES))('the example %s', (name, text) => {
  it('is valid, in YAML and in JSON', () => {
    for (const each of [text, JSON.stringify(parse(text))]) {
      const { document, diagnostics } = checkPolicy(
        { name, text: each },
        { branding, attachedTo: 'https_edge' },
      );
      expect(diagnostics).toEqual([]);
      expect(document).not.toBeNull();
    }
  });

  it('equals the fixture of its name', () => {
    const url = new URL(`../../../fixtures/policies/${name}.yaml`, import.meta.url);
    expect(parse(readFileSync(url, 'utf8'))).toEqual(parse(text));
  });
});

/** Every action of the specification, with every field that it names. */
const SHAPES = {
  on_http_request: [
    {
      name: 'rewrite',
      expressions: ["req.url.path.startsWith('/old')", "req.method == 'GET'"],
      actions: [{ type: 'url-rewrite', config: { from: '/old', to: '/new' } }],
    },
    {
      name: 'answer',
      expressions: ["req.url.path == '/teapot'"],
      actions: [
        {
          type: 'custom-response',
          config: { status_code: 418, headers: { 'content-type': 'text/plain' }, content: 'short and stout' },
        },
      ],
    },
    {
      name: 'deny',
      expressions: ["req.method == 'TRACE'"],
      actions: [{ type: 'deny', config: { status_code: 405 } }],
    },
  ],
  on_http_response: [{ actions: [{ type: 'compress-response', config: { algorithms: ['gzip', 'br'] } }] }],
};

describe('the shapes of the specification', () => {
  it.each([
    ['JSON', JSON.stringify(SHAPES)],
    ['YAML', stringify(SHAPES)],
  ])('are valid as %s; `content` is an older name', (_name, text) => {
    const { diagnostics } = checkPolicy({ name: 'policy', text }, { branding, attachedTo: 'https_edge' });
    expect(diagnostics.map(({ code }) => code)).toEqual(['policy.legacy_name']);
    expect(hasErrors(diagnostics)).toBe(false);
  });

  it('work as the string of a route', () => {
    const edge = createEdge(onePolicy(SHAPES));
    const decide = (method: string, path: string) =>
      edge.decide({ method, url: `https://shop.test${path}`, headers: { 'accept-encoding': 'gzip' } })
        .exchange;
    expect(decide('GET', '/teapot').response).toMatchObject({ status: 418 });
    expect(decide('GET', '/teapot').body).toEqual({ text: 'short and stout' });
    expect(decide('TRACE', '/').response).toMatchObject({ status: 405 });
    const through = decide('GET', '/old/a');
    expect([through.request.path, through.compress]).toEqual(['/new/a', 'gzip']);
    expect(decide('POST', '/old/a').request.path).toBe('/old/a');
  });
});
