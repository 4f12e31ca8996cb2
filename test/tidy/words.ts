import { positionAt } from '../../src/diagnostics/lines.ts';
import type { Breach, Node, Rule, SourceFile } from './tree.ts';

/** Phrases that comments, strings and pages avoid, with what to write instead. */
// table: phrases
const PHRASES: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/\b(?:nobody|somebody|everybody|whoever|whomever)\b/i, 'name the user, client, caller or component'],
  [/(?<!\bthere )\b(?:is|are|was|were) none\b/i, 'say what is absent, empty or invalid'],
  [
    /(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more\b|less\b|other\b|different\b)[a-z]/i,
    'write `is not a …` or `has no …`',
  ],
  [/\bnone to be had\b/i, 'write `there is none`'],
  [/\b(?:comes?|came|coming) about\b/i, 'write `occurs` or `happens`'],
  [/\bmakes? it happen\b/i, 'write what causes it'],
  [/\b(?:is|are|was|were) told\b/i, 'write `is reported`, `is shown` or `is notified`'],
  [/\btells? of\b/i, 'write `reports`'],
  [/\bunder way\b/i, 'write `in flight` or `in progress`'],
  [/\bits kin\b/i, 'write `and others`'],
  [/\b(?:says|said) no\b/i, 'write `denies` or `denied`'],
  [/\b(?:stands?|stood) in for\b/i, 'write `replaces`'],
  [/\bput in force\b/i, 'write `activated`'],
  [/\bdoes not hold\b/i, 'write `fails`, `is false` or `is not met`'],
];

/** Folders and files whose texts are not edited yet; the list only gets shorter. */
// table: paths
const TO_DO: readonly string[] = [
  'docs/api.md',
  'docs/fidelity.md',
  'docs/fidelity/',
  'docs/login.md',
  'docs/operations.md',
  'docs/plane_comparison.md',
  'docs/security.md',
  'docs/tls.md',
  'docs/webhooks.md',
  'src/auth/authenticate.ts',
  'src/auth/callback.ts',
  'src/auth/conversation.ts',
  'src/auth/cookies.ts',
  'src/auth/gate.ts',
  'src/auth/identity.ts',
  'src/auth/keys.ts',
  'src/auth/login_state.ts',
  'src/auth/memory.ts',
  'src/auth/module_gate.ts',
  'src/auth/oauth/api.ts',
  'src/auth/oauth/authorization.ts',
  'src/auth/oauth/module.ts',
  'src/auth/oauth/module_schema.ts',
  'src/auth/oauth/provider.ts',
  'src/auth/oauth/table.ts',
  'src/auth/oauth/tokens.ts',
  'src/auth/oauth/user.ts',
  'src/auth/oidc/backchannel.ts',
  'src/auth/oidc/claims.ts',
  'src/auth/oidc/module.ts',
  'src/auth/oidc/module_schema.ts',
  'src/auth/oidc/provider.ts',
  'src/auth/pages.ts',
  'src/auth/provider.ts',
  'src/auth/reasons.ts',
  'src/auth/refusals.ts',
  'src/auth/registry.ts',
  'src/auth/revocations.ts',
  'src/auth/saml/addresses.ts',
  'src/auth/saml/assertion.ts',
  'src/auth/saml/attributes.ts',
  'src/auth/saml/bindings.ts',
  'src/auth/saml/canonical.ts',
  'src/auth/saml/conditions.ts',
  'src/auth/saml/elements.ts',
  'src/auth/saml/fetched.ts',
  'src/auth/saml/inflate.ts',
  'src/auth/saml/instants.ts',
  'src/auth/saml/keys.ts',
  'src/auth/saml/logout.ts',
  'src/auth/saml/message.ts',
  'src/auth/saml/messages.ts',
  'src/auth/saml/metadata.ts',
  'src/auth/saml/metadata_certificates.ts',
  'src/auth/saml/metadata_entity.ts',
  'src/auth/saml/module.ts',
  'src/auth/saml/module_compile.ts',
  'src/auth/saml/module_schema.ts',
  'src/auth/saml/module_service_host.ts',
  'src/auth/saml/name_id.ts',
  'src/auth/saml/provider.ts',
  'src/auth/saml/reasons.ts',
  'src/auth/saml/replay.ts',
  'src/auth/saml/response.ts',
  'src/auth/saml/service_addresses.ts',
  'src/auth/saml/settings.ts',
  'src/auth/saml/signature_shape.ts',
  'src/auth/saml/validate_response.ts',
  'src/auth/saml/verified.ts',
  'src/auth/saml/xml.ts',
  'src/auth/saml/xml_reference.ts',
  'src/auth/saml/xml_scan.ts',
  'src/auth/saml/xml_tag.ts',
  'src/auth/saml/xml_tree.ts',
  'src/auth/session.ts',
  'src/auth/session_cookies.ts',
  'src/auth/state_cookie.ts',
  'src/cli/',
  'src/clients/',
  'src/control/api/',
  'src/control/application_logins.ts',
  'src/control/login_ends.ts',
  'src/control/management.ts',
  'src/control/saml_keys.ts',
  'src/control/sealed_store.ts',
  'src/control/session_keys.ts',
  'src/control/vault_secrets.ts',
  'src/crypto/',
  'src/edge/',
  'src/edgeproof.ts',
  'src/engine/drivers/clients.ts',
  'src/engine/drivers/engine_exchange_port.ts',
  'src/engine/drivers/exchange_port.ts',
  'src/engine/drivers/live.ts',
  'src/events/',
  'src/filters/backend/',
  'src/filters/basic_auth/algorithm.ts',
  'src/filters/circuit_breaker/algorithm.ts',
  'src/filters/circuit_breaker/module.ts',
  'src/filters/circuit_breaker/module_schema.ts',
  'src/filters/compression/algorithm.ts',
  'src/filters/compression/module.ts',
  'src/filters/compression/module_schema.ts',
  'src/filters/find_replace/',
  'src/filters/header_edits/',
  'src/filters/ip_restriction/algorithm.ts',
  'src/filters/ip_restriction/module.ts',
  'src/filters/ip_restriction/module_schema.ts',
  'src/filters/jwt_validation/algorithm.ts',
  'src/filters/module_fields_schema.ts',
  'src/filters/mutual_tls/',
  'src/filters/rate_limit/algorithm.ts',
  'src/filters/request_headers/',
  'src/filters/response_headers/',
  'src/filters/sse_find_replace/algorithm.ts',
  'src/filters/modules.ts',
  'src/filters/tls_termination/module.ts',
  'src/filters/tls_termination/module_schema.ts',
  'src/filters/url_rewrite/algorithm.ts',
  'src/filters/user_agent_filter/',
  'src/filters/websocket_tcp_converter/',
  'src/http/',
  'src/http1/',
  'src/http2/',
  'src/io/',
  'src/listening.ts',
  'src/net/',
  'src/policy/module.ts',
  'src/policy/module_compile.ts',
  'src/policy/module_links.ts',
  'src/policy/module_schema.ts',
  'src/project_files/',
  'src/server/',
  'src/webhooks/canonical.ts',
  'src/webhooks/certificate.ts',
  'src/webhooks/challenge.ts',
  'src/webhooks/diagnosis.ts',
  'src/webhooks/document.ts',
  'src/webhooks/draft.ts',
  'src/webhooks/examine.ts',
  'src/webhooks/explain.ts',
  'src/webhooks/form.ts',
  'src/webhooks/instants.ts',
  'src/webhooks/json_object.ts',
  'src/webhooks/message.ts',
  'src/webhooks/module.ts',
  'src/webhooks/module_compile.ts',
  'src/webhooks/module_schema.ts',
  'src/webhooks/places.ts',
  'src/webhooks/prepare.ts',
  'src/webhooks/proofs.ts',
  'src/webhooks/provider.ts',
  'src/webhooks/providers/',
  'src/webhooks/reading.ts',
  'src/webhooks/reasons.ts',
  'src/webhooks/secret.ts',
  'src/webhooks/sign.ts',
  'src/webhooks/table.ts',
  'src/webhooks/variants.ts',
  'src/webhooks/verify.ts',
];

/** Comments, messages and pages are plain English; `toDo` lists the paths that are exempt until they are edited. */
export function plainWords(toDo: readonly string[] = TO_DO): {
  readonly textsArePlain: Rule;
  readonly toDoExists: Rule;
} {
  const isDue = (path: string): boolean =>
    /^(?:src|docs)\//.test(path) && !toDo.some((at) => path.startsWith(at));
  return {
    textsArePlain: ({ sources, markdown }) => [
      ...sources.filter(({ path }) => isDue(path)).flatMap((file) => inSource(file)),
      ...markdown.filter(({ path }) => isDue(path)).flatMap(({ path, text }) => inPage(path, text)),
    ],
    toDoExists: ({ paths }) =>
      toDo
        .filter((at) => !paths.some((path) => path.startsWith(at)))
        .map((path) => ({
          path,
          line: 1,
          says: 'the path does not exist; remove it from the list of texts to edit',
        })),
  };
}

function inSource({ path, lines, comments, program }: SourceFile): Breach[] {
  const texts = [...comments.map(({ value, start }) => ({ text: value, start })), ...stringsIn(program)];
  return texts.flatMap(({ text, start }) => {
    // A comment that is wrapped has a line break and an asterisk between two words.
    const found = breachOf(text.replaceAll(/\s+(?:\*\s+|\/\/\s+)?/g, (gap) => ' '.repeat(gap.length)));
    return found === null ? [] : [{ path, line: positionAt(lines, start + found.at).line, says: found.says }];
  });
}

/** Strings of a program that are sentences: those with a space. */
function stringsIn(node: unknown): { readonly text: string; readonly start: number }[] {
  if (Array.isArray(node)) return node.flatMap((each) => stringsIn(each));
  if (node === null || typeof node !== 'object') return [];
  const { type, start, value } = node as Node;
  const text = type === 'TemplateElement' ? (value as { raw: string }).raw : value;
  if ((type === 'Literal' || type === 'TemplateElement') && typeof text === 'string') {
    return text.includes(' ') ? [{ text, start }] : [];
  }
  return Object.values(node).flatMap((each) => stringsIn(each));
}

function inPage(path: string, text: string): Breach[] {
  return text.split('\n').flatMap((line, index) => {
    const found = breachOf(line);
    return found === null ? [] : [{ path, line: index + 1, says: found.says }];
  });
}

function breachOf(text: string): { readonly at: number; readonly says: string } | null {
  for (const [phrase, instead] of PHRASES) {
    const found = new RegExp(phrase.source.replaceAll(' ', ' +'), 'i').exec(text);
    if (found !== null) {
      const says = `'${found[0].replaceAll(/ +/g, ' ')}' is not plain English; ${instead}`;
      return { at: found.index, says };
    }
  }
  return null;
}
