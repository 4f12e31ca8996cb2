import { deflateRawSync } from 'node:zlib';

/** Other files, variables of the environment, parts of another example, and edges that are not for HTTP. */
const NAMES_OTHERS =
  /^\s*(?:include|file)\s*:|\.pem\b|\$\{?env|\$(?:env|file)\b|forward-internal|ip_policies: \[|^on_tcp_connect:/m;

/** A complete example of a page as a project of the playground; null for parts, and for those that name other files. */
export function projectOf(language: string, text: string): Readonly<Record<string, string>> | null {
  if (!/^ya?ml\b/.test(language) || NAMES_OTHERS.test(text)) return null;
  const edge = /^on_\w+:/.test(text) ? edgeWith(text) : text;
  const host = /hostports:\s*\[\s*['"]?([\w.-]+):443/.exec(edge)?.[1];
  if (!/^backends:/m.test(edge) || !/^edges:/m.test(edge) || host === undefined) return null;
  return { 'edge.yaml': edge, 'edge.scenario.yaml': scenarioFor(host) };
}

function scenarioFor(host: string): string {
  return `edge: edge.yaml

cases:
  - name: the first page
    request: https://${host}/
    expect: snapshot
`;
}

/** A policy on the only route of an edge. */
function edgeWith(policy: string): string {
  return `backends:
  app: { static: { address: 'localhost:3000' } }

edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes:
        - match_type: path_prefix
          match: /
          backend: { backend_id: app }
          traffic_policy:
${policy.trimEnd().replaceAll(/^(?=.)/gm, ' '.repeat(12))}
`;
}

/** The fragment that the playground reads its project from. */
export function fragmentOf(project: Readonly<Record<string, string>>): string {
  return deflateRawSync(JSON.stringify(project)).toString('base64url');
}
