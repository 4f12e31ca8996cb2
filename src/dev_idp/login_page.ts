import { escapeHtml } from '../http/ascii.ts';
import { type Identity, MISBEHAVIOURS } from './identities.ts';

/** The page to choose an identity: one link per identity back to the same address, with its name. */
export function loginPage(
  label: string,
  asked: { readonly clientId: string; readonly redirectUri: string },
  identities: Iterable<Identity>,
  linkFor: (key: string) => string,
): string {
  const rows = [...identities].map((identity) => {
    const { key, name, email, emailVerified, groups, misbehave } = identity;
    const facts = [
      emailVerified ? email : `${email} (not verified)`,
      ...(groups.length > 0 ? [groups.join(', ')] : []),
      ...(misbehave === null ? [] : [MISBEHAVIOURS[misbehave]]),
    ];
    return (
      `<li><a class="who" data-identity="${escapeHtml(key)}" href="${escapeHtml(linkFor(key))}">` +
      `Log in as <b>${escapeHtml(name)}</b></a><br><small>${escapeHtml(facts.join(' · '))}</small></li>`
    );
  });
  return (
    '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">' +
    `<title>Log in (development)</title><style>body{font:16px/1.5 system-ui,sans-serif;max-width:34em;margin:3em auto;` +
    'padding:0 1em}li{margin:.8em 0;list-style:none}ul{padding:0}.note{background:#fff3cd;color:#533f03;padding:.6em 1em}' +
    `</style></head>\n<body><p class="note">Development identity provider: no passwords, choose any identity. ` +
    `It replaces <b>${escapeHtml(label)}</b>.</p><h1>Choose an identity</h1>\n<ul>${rows.join('\n')}</ul>` +
    `<p><small>for the app <code>${escapeHtml(asked.clientId)}</code>, back to <code>${escapeHtml(asked.redirectUri)}</code>` +
    `</small></p></body></html>\n`
  );
}
