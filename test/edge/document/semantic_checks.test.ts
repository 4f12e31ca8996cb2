import { describe, expect, it } from 'vitest';
import { renderDiagnostics } from '../../../src/diagnostics/render.ts';
import { checkWholeEdge } from '../../../src/edge/semantic_checks.ts';

const edgeFile = (value: string) => `
ip_policies: { office: { rules: [{ cidr: 192.0.2.0/24, action: allow }] } }
backends: { app: { static: { address: "localhost:3000" } } }
edges:
  https:
    shop:
      hostports: ["shop.test:443"]
      routes:
        - match_type: path_prefix
          match: /
          ip_restriction: { ip_policy_ids: [office] }
          backend: { backend_id: app }
          traffic_policy:
            value: ${value}
`;

const findings = (value: string) => {
  const { config, diagnostics } = checkWholeEdge({ name: 'edge.yaml', text: edgeFile(value) });
  return { config, rendered: renderDiagnostics(diagnostics, { color: false }) };
};

describe('a traffic policy inside an edge file', () => {
  it('is checked completely, and its findings are located in the file', () => {
    const { config, rendered } = findings(`|
              on_http_request:
                - expressions: ["req.url.pth == '/a'"]
                  actions: [{ type: deni }]`);
    expect(config).toBeNull();
    expect(rendered).toMatch(
      /^edge\.yaml:16:\d+ error ERR_SERVICE_2200 .*\n.*\n.*\n +│ +\^\^\^ did you mean 'path'\?/m,
    );
    expect(rendered).toMatch(/^edge\.yaml:17:\d+ error ERR_SERVICE_2201 /m);
  });

  it('is located in a quoted string with escapes, too', () => {
    const { rendered } = findings(String.raw`"{\"on_http_request\":[{\"actions\":[{\"type\":\"deni\"}]}]}"`);
    expect(rendered).toMatch(/^edge\.yaml:14:\d+ error ERR_SERVICE_2201 /m);
    expect(rendered).toContain("did you mean 'deny'?");
  });

  it('knows the IP policies of the file', () => {
    const policy = (name: string) =>
      `'{"on_http_request":[{"actions":[{"type":"restrict-ips","config":{"ip_policies":["${name}"]}}]}]}'`;
    expect(findings(policy('office')).config).not.toBeNull();
    expect(findings(policy('offic')).rendered).toMatch(/ERR_SERVICE_2216/);
  });

  it('knows the internal endpoints of the file', () => {
    const policy = (url: string) =>
      `'{"on_http_request":[{"actions":[{"type":"forward-internal","config":{"url":"${url}"}}]}]}'
    bills:
      hostports: ["bills.internal:443", "old.internal:443"]
      routes: [{ match_type: path_prefix, match: /, backend: { backend_id: app } }]`;
    expect(findings(policy('https://bills.internal/all')).rendered).toBe('');
    const { config, rendered } = findings(policy('https://bils.internal:443/all'));
    // The service may have endpoints that the file does not declare, so this is not an error.
    expect(config).not.toBeNull();
    expect(rendered).toMatch(
      /^edge\.yaml:14:\d+ warning policy\.unknown_endpoint unknown internal endpoint 'bils\.internal'\n/m,
    );
    expect(rendered).toMatch(/│ +\^{13} did you mean 'bills\.internal'\?/);
    expect(rendered).toContain('internal endpoints: bills.internal, old.internal');
  });

  it('may also be an object of the library', () => {
    const config = {
      edges: {
        https: {
          a: {
            hostports: ['a.test:443'],
            routes: [
              {
                match_type: 'path_prefix',
                match: '/',
                traffic_policy: { value: '{"on_http_request":[{}]}' },
              },
            ],
          },
        },
      },
    };
    const { diagnostics } = checkWholeEdge({ value: config });
    expect(diagnostics).toContainEqual(
      expect.objectContaining({ code: 'ERR_SERVICE_2206', severity: 'error' }),
    );
  });
});
