import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { quoted } from '../../config_file/message_text.ts';
import { isMetadataProblem, readMetadata } from '../../auth/saml/metadata.ts';
import { compilePattern, isPatternProblem } from '../../regex/pattern.ts';
import type { Checking } from './checking.ts';
import type { Entries } from './config.ts';
import { replaceWithin } from './repairs.ts';
import { isBodylessStatus } from '../../http/bodyless.ts';

/** Checks dependencies between fields of an action. Invalid fields are undefined here. */
export function checkCrossFields(checking: Checking, config: Entries, pointer: string): void {
  TOGETHER[checking.type]?.(checking, config, pointer);
}

type Check = (checking: Checking, config: Entries, pointer: string) => void;

/** Pointer of a field with its name in the document. */
function fieldAt({ renamed }: Checking, pointer: string, field: string): string {
  const at = pointerTo(pointer, field);
  return renamed.get(at) ?? at;
}

/** Whether a field is present, valid or not. */
function has(config: Entries, field: string): boolean {
  return Object.hasOwn(config, field);
}

/** Two fields that require each other. */
function needsBoth(checking: Checking, config: Entries, pointer: string, one: string, other: string): void {
  for (const [given, needed] of [
    [one, other],
    [other, one],
  ] as const) {
    if (!has(config, given) || has(config, needed)) continue;
    const message = `'${given}' also needs '${needed}'`;
    checking.report(2240, fieldAt(checking, pointer, given), message, { at: 'key', hint: `add ${needed}` });
  }
}

/** Whether a list has entries, or may have: an invalid list is undefined. */
function isFilled(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.length > 0);
}

/** OAuth providers without a managed app of the service. */
const WITHOUT_MANAGED_APP: ReadonlySet<string> = new Set(['amazon', 'facebook']);

const oauth: Check = (checking, config, pointer) => {
  const { report } = checking;
  needsBoth(checking, config, pointer, 'client_id', 'client_secret');
  if (has(config, 'client_id') || has(config, 'client_secret')) return;
  const at = fieldAt(checking, pointer, 'provider');
  const provider = String(config['provider']);
  if (WITHOUT_MANAGED_APP.has(provider)) {
    const message = `'${provider}' has no managed app: 'client_id' and 'client_secret' are required`;
    report(2240, at, message, { hint: 'add client_id and client_secret' });
  } else if (isFilled(config['scopes'])) {
    const message = "'scopes' needs 'client_id' and 'client_secret': the managed app has fixed scopes";
    report(2240, fieldAt(checking, pointer, 'scopes'), message, {
      at: 'key',
      hint: 'add client_id and client_secret',
    });
  }
};

/** The discovery document is below the issuer (OpenID Connect Discovery 1.0 §3 and §4). */
const openidConnect: Check = (checking, config, pointer) => {
  const issuer = config['issuer_url'];
  if (typeof issuer !== 'string' || issuer.includes('${')) return;
  const at = issuer.search(/[?#]/);
  if (at === -1) return;
  const what = issuer[at] === '?' ? 'query' : 'fragment';
  const message = `an issuer must not have a ${what}: its discovery document would have no place`;
  const within = { span: { start: at, end: issuer.length }, decoded: issuer };
  checking.report(2227, fieldAt(checking, pointer, 'issuer_url'), message, {
    within,
    hint: `write ${issuer.slice(0, at)}`,
  });
};

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

const saml: Check = (checking, config, pointer) => {
  const { report } = checking;
  const [hasMetadata, hasUrl] = [has(config, 'idp_metadata'), has(config, 'idp_metadata_url')];
  if (!hasMetadata && !hasUrl) {
    const message = "'saml' needs 'idp_metadata' or 'idp_metadata_url'";
    report(2234, pointer, message, { at: 'key', hint: 'add idp_metadata' });
  } else if (hasMetadata && hasUrl) {
    const message = "'idp_metadata' and 'idp_metadata_url' exclude each other";
    report(2204, fieldAt(checking, pointer, 'idp_metadata_url'), message, {
      at: 'key',
      hint: 'keep one of them',
    });
  }
  const text = config['idp_metadata'];
  const read = typeof text === 'string' ? readMetadata(text) : null;
  if (read !== null && isMetadataProblem(read)) {
    report(2204, fieldAt(checking, pointer, 'idp_metadata'), `the metadata ${read.problems[0]!.message}`);
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
    const message = "'sns' signs with a published certificate and has no secret";
    checking.report(2204, fieldAt(checking, pointer, 'secret'), message, {
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

const TOGETHER: Readonly<Record<string, Check>> = {
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
