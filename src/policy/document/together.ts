import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { compilePattern, isPatternProblem } from '../../regex/pattern.ts';
import type { Checking } from './checking.ts';
import type { Entries } from './config.ts';
import { quoted } from './words.ts';

/** What fields of an action ask of each other. A field that departs from its shape is undefined here. */
export function checkTogether(checking: Checking, config: Entries, pointer: string): void {
  TOGETHER[checking.type]?.(checking, config, pointer);
}

type Check = (checking: Checking, config: Entries, pointer: string) => void;

/** Pointer of a field as the document calls it. */
function fieldAt({ renamed }: Checking, pointer: string, field: string): string {
  const at = pointerTo(pointer, field);
  return renamed.get(at) ?? at;
}

/** Two fields that need each other. */
function needsBoth(checking: Checking, config: Entries, pointer: string, one: string, other: string): void {
  for (const [given, needed] of [
    [one, other],
    [other, one],
  ] as const) {
    if (config[given] === undefined || config[needed] !== undefined) continue;
    const says = `'${given}' needs '${needed}' beside it`;
    checking.report(2240, fieldAt(checking, pointer, given), says, { at: 'key', hint: `add ${needed}` });
  }
}

function isFilled(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

/** OAuth providers for which the service has no app of its own. */
const WITHOUT_MANAGED_APP: ReadonlySet<string> = new Set(['amazon', 'facebook']);

const oauth: Check = (checking, config, pointer) => {
  const { report } = checking;
  needsBoth(checking, config, pointer, 'client_id', 'client_secret');
  if (config['client_id'] !== undefined || config['client_secret'] !== undefined) return;
  const at = fieldAt(checking, pointer, 'provider');
  const provider = String(config['provider']);
  if (WITHOUT_MANAGED_APP.has(provider)) {
    const says = `there is no managed app for '${provider}': it needs 'client_id' and 'client_secret'`;
    report(2240, at, says, { hint: 'add client_id and client_secret' });
  } else if (isFilled(config['scopes'])) {
    const says = "'scopes' needs 'client_id' and 'client_secret': the managed app asks for its own";
    report(2240, fieldAt(checking, pointer, 'scopes'), says, {
      at: 'key',
      hint: 'add client_id and client_secret',
    });
  }
};

const restrictIps: Check = (checking, config, pointer) => {
  const { report } = checking;
  if (isFilled(config['allow']) || isFilled(config['ip_policies'])) return;
  if (isFilled(config['deny'])) {
    const says = 'a list of denied ranges needs a range that is allowed, or nobody passes';
    report(393, fieldAt(checking, pointer, 'deny'), says, {
      at: 'key',
      hint: "to allow all others: allow: ['0.0.0.0/0', '::/0']",
    });
  } else {
    const says = 'nothing is allowed here, so no address can pass';
    report('policy.blocks_everybody', pointer, says, { at: 'key', hint: 'add allow or ip_policies' });
  }
};

const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

const customResponse: Check = (checking, config, pointer) => {
  const status = config['status_code'];
  const at = fieldAt(checking, pointer, 'status_code');
  if (typeof status !== 'number') return;
  if (status < 200) {
    checking.report('policy.interim_status', at, `${status} only announces a response (RFC 9110 §15.2)`);
  } else if (NO_BODY.has(status) && typeof config['body'] === 'string' && config['body'] !== '') {
    const says = `a response of status ${status} has no body (RFC 9110 §15)`;
    checking.report('policy.body_not_sent', fieldAt(checking, pointer, 'body'), says, { at: 'key' });
  }
};

const deny: Check = (checking, config, pointer) => {
  const at = fieldAt(checking, pointer, 'status_code');
  const isWritten = checking.policy.keySpanOf(at) !== undefined;
  if (checking.phase !== 'on_tcp_connect' || !isWritten || config['status_code'] === undefined) return;
  const says = 'a connection has no status: deny closes it in on_tcp_connect';
  checking.report('policy.no_effect', at, says, { at: 'key', hint: 'leave status_code out' });
};

/** Groups that a replacement refers to: `$1`, `${1}` is a template here, `$$` is a dollar. */
const GROUP = /\$(\$|\d+)/g;

function groupsExist(checking: Checking, from: unknown, to: unknown, pointer: string): void {
  if (typeof to !== 'string' || (from !== undefined && typeof from !== 'string') || from?.includes('${'))
    return;
  const pattern = from === undefined ? undefined : compilePattern(from);
  if (pattern !== undefined && isPatternProblem(pattern)) return;
  const groups = pattern?.groupCount ?? 0;
  for (const found of to.matchAll(GROUP)) {
    if (found[1] === '$' || Number(found[1]) <= groups) continue;
    const says =
      from === undefined
        ? `'$${found[1]}' refers to a group, but there is no pattern`
        : `the pattern has ${groups === 0 ? 'no groups' : `${groups} group${groups > 1 ? 's' : ''}`}, so '$${found[1]}' is empty`;
    const span = { start: found.index, end: found.index + found[0].length };
    checking.report('policy.no_such_group', pointer, says, { within: { span, decoded: to } });
  }
}

const replaced: Check = (checking, config, pointer) => {
  groupsExist(checking, config['from'], config['to'], fieldAt(checking, pointer, 'to'));
};

const replacements: Check = (checking, config, pointer) => {
  const list = config['replacements'];
  if (!Array.isArray(list)) return;
  for (const [index, item] of (list as readonly (Entries | undefined)[]).entries()) {
    const at = `${pointer}/replacements/${index}/to`;
    if (item !== undefined) groupsExist(checking, item['from'], item['to'], at);
  }
};

const saml: Check = (checking, config, pointer) => {
  const { report } = checking;
  const [metadata, url] = [config['idp_metadata'], config['idp_metadata_url']];
  if (metadata === undefined && url === undefined) {
    const says = "'saml' needs 'idp_metadata' or 'idp_metadata_url'";
    report(2234, pointer, says, { at: 'key', hint: 'add idp_metadata' });
  } else if (metadata !== undefined && url !== undefined) {
    const says = "'idp_metadata' and 'idp_metadata_url' exclude each other";
    report(2204, fieldAt(checking, pointer, 'idp_metadata_url'), says, {
      at: 'key',
      hint: 'keep one of them',
    });
  }
};

const terminateTls: Check = (checking, config, pointer) => {
  needsBoth(checking, config, pointer, 'server_private_key', 'server_certificate');
  const [least, most] = [config['min_version'], config['max_version']];
  if (typeof least !== 'string' || typeof most !== 'string' || least <= most) return;
  const says = `'min_version' ${least} is newer than 'max_version' ${most}`;
  checking.report(2204, fieldAt(checking, pointer, 'min_version'), says, { hint: 'no version is left' });
};

const verifyWebhook: Check = (checking, config, pointer) => {
  const { provider, secret } = config as { provider?: string; secret?: string };
  if (provider === undefined) return;
  if (provider === 'sns' && secret !== undefined) {
    const says = "'sns' signs with a published certificate: it has no secret";
    checking.report(2204, fieldAt(checking, pointer, 'secret'), says, {
      at: 'key',
      hint: 'leave secret out',
    });
  } else if (provider !== 'sns' && secret === undefined) {
    const isWritten = checking.policy.keySpanOf(fieldAt(checking, pointer, 'secret')) !== undefined;
    if (isWritten) return;
    const says = `'secret' is required for the provider ${quoted(provider)}`;
    checking.report(2240, fieldAt(checking, pointer, 'provider'), says, {
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
    const says = `${quoted(name)} carries a scheme before the token: without a prefix it is read as part of it`;
    checking.report('policy.no_prefix', `${pointer}/http/tokens/${index}/name`, says, {
      hint: "add prefix: 'Bearer '",
    });
  }
};

const TOGETHER: Readonly<Record<string, Check>> = {
  'custom-response': customResponse,
  deny,
  'jwt-validation': jwtValidation,
  oauth,
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
