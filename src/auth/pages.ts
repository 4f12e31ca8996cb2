import type { LocalResponse } from '../engine/questions.ts';
import { type FieldList, listMembers, firstValue } from '../http/fields.ts';
import { escapeHtml } from '../http/ascii.ts';

/** Login pages are not cached, not framed and not leaked by `Referer`. */
const PAGE_FIELDS = [
  'content-type',
  'text/html; charset=utf-8',
  'cache-control',
  'no-store',
  'referrer-policy',
  'no-referrer',
  'x-content-type-options',
  'nosniff',
  'content-security-policy',
  "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
] as const;

export interface PageLink {
  /** A path of this origin. */
  readonly href: string;
  readonly text: string;
}

/** A small page: what happened, its reason in words and as a code, and a link to continue. */
export function page(
  status: number,
  title: string,
  message: string,
  options: { readonly code?: string; readonly link?: PageLink; readonly cookies?: readonly string[] } = {},
): LocalResponse {
  const { code, link, cookies = [] } = options;
  const next =
    link === undefined ? '' : `<p><a href="${escapeHtml(link.href)}">${escapeHtml(link.text)}</a></p>`;
  const reason = code === undefined ? '' : `<p><small>Reason: <code>${escapeHtml(code)}</code></small></p>`;
  const body =
    `<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">` +
    `<meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title>` +
    `<style>body{font:16px/1.5 system-ui,sans-serif;max-width:34em;margin:4em auto;padding:0 1em}</style></head>\n` +
    `<body><h1>${escapeHtml(title)}</h1><p>${escapeHtml(message)}</p>${next}${reason}</body></html>\n`;
  return { status, headers: [...PAGE_FIELDS, ...setCookieFields(cookies)], body };
}

/** SHA-256 of the page's only script, for its Content-Security-Policy. */
const SCRIPT = 'document.forms[0].submit()';
const SCRIPT_HASH = 'ePniVEkSivX/c7XWBGafqh8tSpiRrKiqYeqbG7N1TOE=';

/** A form that submits itself. */
export function formPage(to: string, fields: readonly (readonly [string, string])[]): LocalResponse {
  const inputs = fields.map(
    ([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`,
  );
  const body =
    '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>One moment</title></head>' +
    `<body><form method="post" action="${escapeHtml(to)}">${inputs.join('')}<button>Continue</button></form>` +
    `<script>${SCRIPT}</script></body></html>\n`;
  const policy =
    `default-src 'none'; script-src 'sha256-${SCRIPT_HASH}'; frame-ancestors 'none'; base-uri 'none'; ` +
    // Browsers apply `form-action` to redirects after the form, too, and the upstream chooses their targets.
    'form-action http: https:';
  const headers = ['content-type', 'text/html; charset=utf-8', 'cache-control', 'no-store'];
  headers.push('content-security-policy', policy, 'referrer-policy', 'no-referrer');
  headers.push('x-content-type-options', 'nosniff');
  return { status: 200, headers, body };
}

/** Redirects the browser; `location` is a path of this origin or a URL of the provider. */
export function redirectTo(location: string, cookies: readonly string[] = []): LocalResponse {
  const headers = [
    'location',
    location,
    'cache-control',
    'no-store',
    'referrer-policy',
    'no-referrer',
    ...setCookieFields(cookies),
  ];
  return { status: 302, headers, body: '' };
}

function setCookieFields(cookies: readonly string[]): string[] {
  return cookies.flatMap((cookie) => ['set-cookie', cookie]);
}

/** The 401 for clients that do not accept HTML. */
export function needsLogin(
  code: string,
  message: string,
  facts: { readonly realm: string; readonly loginPath: string; readonly cookie: string },
): LocalResponse {
  const { realm, loginPath, cookie } = facts;
  const body = JSON.stringify({ error: 'login_needed', reason: code, message, login: loginPath });
  const headers = [
    'content-type',
    'application/json',
    'cache-control',
    'no-store',
    // RFC 9110 §15.5.2 requires a challenge; the scheme is that of draft-broyer-http-cookie-auth.
    'www-authenticate',
    `Cookie realm="${realm}", form-action="${loginPath}", cookie-name="${cookie}"`,
  ];
  return { status: 401, headers, body: `${body}\n` };
}

const DOCUMENTS: ReadonlySet<string> = new Set(['document', 'iframe', 'frame']);

/**
 * Whether the client displays HTML pages. Browsers say so (Fetch Metadata); for other clients the accepted
 * media types decide, and clients without `Accept` accept any type (RFC 9110 §12.5.1).
 */
export function acceptsHtml(headers: FieldList): boolean {
  const destination = firstValue(headers, 'sec-fetch-dest');
  if (destination !== undefined) return DOCUMENTS.has(destination);
  if (firstValue(headers, 'x-requested-with')?.toLowerCase() === 'xmlhttprequest') return false;
  const accepted = listMembers(headers, 'accept');
  if (accepted.length === 0) return true;
  return accepted.some((member) => {
    const [type, ...parameters] = member.split(';').map((part) => part.trim().toLowerCase());
    const isRefused = parameters.some((each) => /^q=0(?:\.0*)?$/.test(each));
    return !isRefused && /^(?:text\/html|application\/xhtml\+xml|text\/\*|\*\/\*)$/.test(type!);
  });
}
