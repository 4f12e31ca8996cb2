import { domainToUnicode } from 'node:url';
import { isMetadataProblem, readMetadata } from '../../auth/saml/metadata.ts';
import { quoted } from '../../config_file/message_text.ts';
import { type Check, fieldAt, has, isFilled, needsBoth } from './cross_fields.ts';

/** OAuth providers without a managed app of the service. */
const WITHOUT_MANAGED_APP: ReadonlySet<string> = new Set(['amazon', 'facebook']);

/** A browser takes a cookie for a domain only from a host below it (RFC 6265 §5.3). */
const cookieDomain: Check = (checking, config, pointer) => {
  const written = config['auth_cookie_domain'];
  if (typeof written !== 'string') return;
  const at = fieldAt(checking, pointer, 'auth_cookie_domain');
  const domain = written.replace(/^\./, '').toLowerCase();
  if (
    domainToUnicode(domain)
      .split('.')
      .some((label) => label.startsWith('xn--'))
  ) {
    checking.report(2242, at, `${quoted(written)} has a label that is not Punycode (RFC 3492)`, {
      hint: 'such as xn--bcher-kva for bücher',
    });
    return;
  }
  const isBelow = (host: string): boolean => host === domain || host.endsWith(`.${domain}`);
  const stranger = checking.setting.hosts?.find((host) => !isBelow(host.replace(/^\*\./, '')));
  if (stranger === undefined) return;
  checking.report(
    2241,
    at,
    `${quoted(stranger)} is not below ${quoted(domain)}: browsers refuse the cookie`,
    {
      hint: `omit it, or write ${stranger}`,
    },
  );
};

export const oauth: Check = (checking, config, pointer) => {
  cookieDomain(checking, config, pointer);
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
export const openidConnect: Check = (checking, config, pointer) => {
  cookieDomain(checking, config, pointer);
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

export const saml: Check = (checking, config, pointer) => {
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
