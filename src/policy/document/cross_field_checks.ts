import { quoted } from '../../config_file/message_text.ts';
import { compilePattern, isPatternProblem } from '../../regex/pattern.ts';
import type { Checking } from './checking.ts';
import { type Check, fieldAt, has, isFilled, needsBoth } from './cross_fields.ts';
import { credentialTemplateProblem } from './kinds/credential.ts';
import type { Entries } from './config.ts';
import { oauth, openidConnect, saml } from './login_checks.ts';
import { replaceWithin } from './repairs.ts';
import { isBodylessStatus } from '../../http/bodyless.ts';

/** Checks dependencies between fields of an action. Invalid fields are undefined here. */
export function checkCrossFields(checking: Checking, config: Entries, pointer: string): void {
  TOGETHER[checking.type]?.(checking, config, pointer);
}

const restrictIps: Check = (checking, config, pointer) => {
  const { report } = checking;
  if (isFilled(config['allow']) || isFilled(config['ip_policies'])) return;
  if (isFilled(config['deny'])) {
    const message = 'with denied ranges only, no address can pass';
    report(393, fieldAt(checking, pointer, 'deny'), message, {
      at: 'key',
      hint: "to allow all others: allow: ['0.0.0.0/0', '::/0']",
    });
  } else {
    const message = 'no range is allowed, so no address can pass';
    report('policy.blocks_everybody', pointer, message, { at: 'key', hint: 'add allow or ip_policies' });
  }
};

const customResponse: Check = (checking, config, pointer) => {
  const status = config['status_code'];
  const at = fieldAt(checking, pointer, 'status_code');
  if (typeof status !== 'number') return;
  if (status < 200) {
    checking.report('policy.interim_status', at, `${status} only announces a response (RFC 9110 §15.2)`);
  } else if (isBodylessStatus(status) && typeof config['body'] === 'string' && config['body'] !== '') {
    const message = `a response of status ${status} has no body (RFC 9110 §15)`;
    checking.report('policy.body_not_sent', fieldAt(checking, pointer, 'body'), message, { at: 'key' });
  }
};

const deny: Check = (checking, config, pointer) => {
  const at = fieldAt(checking, pointer, 'status_code');
  const isWritten = checking.policy.keySpanOf(at) !== undefined;
  if (checking.phase !== 'on_tcp_connect' || !isWritten || config['status_code'] === undefined) return;
  const message = 'a connection has no status: in on_tcp_connect deny closes it';
  checking.report('policy.no_effect', at, message, { at: 'key', hint: 'remove status_code' });
};

/** References of a replacement to groups: as long as possible, and `$$` is a dollar sign (`regex/pattern.ts`). */
const REFERENCE = /\$(\$|\d\w*)/g;
/** `${1}` is a group reference in other tools: here it is an expression with the value 1. */
const GROUP_AS_TEMPLATE = /(?<!\$)\$\{(\d+)\}/g;

function checkGroups(checking: Checking, entries: Entries, pointer: string): void {
  const from = entries['from'];
  const to = entries['to'];
  // An invalid pattern is present but undefined.
  if (typeof to !== 'string' || (Object.hasOwn(entries, 'from') && typeof from !== 'string')) return;
  reportTemplates(checking, to, pointer);
  if (typeof from === 'string' && from.includes('${')) return;
  const pattern = typeof from === 'string' ? compilePattern(from) : undefined;
  if (pattern !== undefined && isPatternProblem(pattern)) return;
  const count = pattern?.groupCount ?? 0;
  for (const { 0: written, 1: name, index } of to.matchAll(REFERENCE)) {
    if (name === '$' || Number(name) <= count) continue;
    const span = { start: index, end: index + written.length };
    checking.report(
      'policy.no_such_group',
      pointer,
      `'${written}' refers to a missing group and becomes empty`,
      {
        within: { span, decoded: to },
        hint: groupHint(name!, count, pattern === undefined),
      },
    );
  }
}

function groupHint(name: string, count: number, isWhole: boolean): string {
  const number = Number.parseInt(name, 10);
  if (isWhole) return 'without from there are no groups';
  // `$1x` is the group named 1x; braces would make it a template, so the first dollar is doubled.
  if (!/^\d+$/.test(name) && number <= count)
    return `write $\${${number}}${name.slice(String(number).length)}`;
  return count === 0 ? 'the pattern has no group' : `the last group is $${count}`;
}

function reportTemplates(checking: Checking, to: string, pointer: string): void {
  for (const { 0: written, 1: number, index } of to.matchAll(GROUP_AS_TEMPLATE)) {
    const span = { start: index, end: index + written.length };
    const safe = !/\w/.test(to[span.end] ?? '');
    const text = safe ? `$${number}` : `$${written}`;
    checking.report(
      'policy.group_as_template',
      pointer,
      `'${written}' is an expression and becomes ${number}`,
      {
        within: { span, decoded: to },
        hint: `write ${text} for the group`,
        fix: replaceWithin(checking.policy, pointer, to, span, { message: `write ${text}`, text, safe }),
      },
    );
  }
}

const replaced: Check = (checking, config, pointer) => {
  checkGroups(checking, config, fieldAt(checking, pointer, 'to'));
};

const replacements: Check = (checking, config, pointer) => {
  const list = config['replacements'];
  if (!Array.isArray(list)) return;
  for (const [index, item] of (list as readonly (Entries | undefined)[]).entries()) {
    if (item !== undefined) checkGroups(checking, item, `${pointer}/replacements/${index}/to`);
  }
};

const terminateTls: Check = (checking, config, pointer) => {
  needsBoth(checking, config, pointer, 'server_private_key', 'server_certificate');
  const [least, most] = [config['min_version'], config['max_version']];
  if (typeof least !== 'string' || typeof most !== 'string' || least <= most) return;
  const message = `'min_version' ${least} is newer than 'max_version' ${most}`;
  checking.report(2204, fieldAt(checking, pointer, 'min_version'), message, {
    hint: 'no version is allowed',
  });
};

const verifyWebhook: Check = (checking, config, pointer) => {
  const provider = config['provider'];
  const hasSecret = has(config, 'secret');
  if (typeof provider !== 'string') return;
  if (provider === 'sns' && hasSecret) {
    const message = "'sns' signs with a published certificate: a secret has no effect";
    checking.report('policy.no_effect', fieldAt(checking, pointer, 'secret'), message, {
      at: 'key',
      hint: 'remove secret',
    });
  } else if (provider !== 'sns' && !hasSecret) {
    const message = `'secret' is required for the provider ${quoted(provider)}`;
    checking.report(2240, fieldAt(checking, pointer, 'provider'), message, {
      hint: "add secret, such as secret: ${secrets.get('webhooks', 'name')}",
    });
  }
};

const jwtValidation: Check = (checking, config, pointer) => {
  const http = config['http'] as Entries | undefined;
  const tokens = http?.['tokens'];
  if (!Array.isArray(tokens)) return;
  for (const [index, token] of (tokens as readonly (Entries | undefined)[]).entries()) {
    const name = token?.['name'];
    if (token?.['method'] !== 'header' || typeof name !== 'string') continue;
    if (name.toLowerCase() !== 'authorization' || token['prefix'] !== '') continue;
    const message = `${quoted(name)} has a scheme before the token: without a prefix it is read as part of the token`;
    checking.report('policy.no_prefix', `${pointer}/http/tokens/${index}/name`, message, {
      hint: "add prefix: 'Bearer '",
    });
  }
};

const basicAuth: Check = (checking, config, pointer) => {
  const list = config['credentials'];
  if (!Array.isArray(list)) return;
  for (const [index, text] of (list as readonly unknown[]).entries()) {
    const problem =
      typeof text === 'string' && text.includes('${') ? credentialTemplateProblem(text) : undefined;
    if (problem === undefined) continue;
    checking.report(2204, `${fieldAt(checking, pointer, 'credentials')}/${index}`, problem, {
      hint: 'write user:password, or one expression for both',
    });
  }
};

/** Keys of known providers belong to the key of the gateway; a provider with a URL of its own has its keys here. */
const aiGateway: Check = (checking, config, pointer) => {
  const { report } = checking;
  const providers = (config['providers'] ?? []) as readonly (Entries | undefined)[];
  const own = providers.filter((provider) => provider !== undefined && has(provider, 'base_url'));
  for (const [index, provider] of providers.entries()) {
    if (provider === undefined || own.includes(provider) || !isFilled(provider['api_keys'])) continue;
    const message = `the provider ${quoted(String(provider['id']))} takes its keys from the key of the gateway, not from policies`;
    report(2267, `${pointer}/providers/${index}/api_keys`, message, {
      at: 'key',
      hint: 'remove api_keys, or add the base_url of a provider of your own',
    });
  }
  if (!has(config, 'api_key_selection') || own.length > 0) return;
  report(2267, `${pointer}/api_key_selection`, 'keys are selected for providers with a base_url only', {
    at: 'key',
    hint: 'remove api_key_selection',
  });
};

const TOGETHER: Readonly<Record<string, Check>> = {
  'ai-gateway': aiGateway,
  'basic-auth': basicAuth,
  'custom-response': customResponse,
  deny,
  'jwt-validation': jwtValidation,
  oauth,
  'openid-connect': openidConnect,
  redirect: replaced,
  'request-body-find-replace': replacements,
  'response-body-find-replace': replacements,
  'restrict-ips': restrictIps,
  saml,
  'sse-find-replace': replacements,
  'terminate-tls': terminateTls,
  'url-rewrite': replaced,
  'verify-webhook': verifyWebhook,
};
