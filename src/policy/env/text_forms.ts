import type { TextForm } from '../../cel/scope.ts';
import { isMethod } from '../../http/methods.ts';

/** What texts variables can have, as far as all requests have them in one form: other texts in a condition are mistakes. */
export const TEXT_FORMS: ReadonlyMap<string, TextForm> = new Map<string, TextForm>([
  [
    'req.method',
    {
      rule: 'edges accept the registered methods only, in upper case',
      allows: (text, isStart) => isStart || isMethod(text),
      meant: (text) => text.trim().toUpperCase(),
    },
  ],
  [
    'req.url.path',
    {
      rule: 'a path begins with a slash, and has neither query nor fragment',
      allows: (text) => text === '' || (/^[/*]/.test(text) && !/[?#]/.test(text)),
      meant: (text) =>
        text.includes('://') ? undefined : text.replace(/^(?!\/)/, '/').replace(/[?#].*$/s, ''),
    },
  ],
  [
    'req.url.host',
    {
      rule: 'it is in lower case and without a port',
      allows: (text) => text === text.toLowerCase() && !/\w:\d*$|\//.test(text),
      meant: (text) =>
        text
          .toLowerCase()
          .replace(/^\w+:\/\//, '')
          .replace(/[:/].*$/s, ''),
    },
  ],
  [
    'req.url.scheme',
    {
      rule: 'it is http or https',
      allows: (text, isStart) =>
        ['http', 'https'].some((scheme) => (isStart ? scheme.startsWith(text) : scheme === text)),
      meant: (text) => text.toLowerCase().replace(/:.*$/s, ''),
    },
  ],
  [
    'req.version',
    {
      rule: 'it is HTTP/1.0, HTTP/1.1 or HTTP/2.0',
      allows: (text, isStart) =>
        isStart ? 'HTTP/'.startsWith(text.slice(0, 5)) : /^HTTP\/(?:1\.[01]|2\.0)$/.test(text),
      meant: (text) =>
        text
          .toUpperCase()
          .replace(/^(?!HTTP)/, 'HTTP/')
          .replace(/\/([12])$/, (_, major: string) => (major === '2' ? '/2.0' : '/1.1')),
    },
  ],
  [
    'conn.tls.version',
    {
      rule: 'it is TLSv1, TLSv1.1, TLSv1.2 or TLSv1.3',
      allows: (text, isStart) =>
        text === '' || (isStart ? 'TLSv1.'.startsWith(text.slice(0, 6)) : /^TLSv1(?:\.[123])?$/.test(text)),
      meant: (text) => text.replace(/^(?:tls)?[ v]*/i, 'TLSv').replace(/\.0$/, ''),
    },
  ],
  [
    'endpoint.protocol',
    {
      rule: 'it is http, https, tcp or tls',
      allows: (text, isStart) =>
        ['http', 'https', 'tcp', 'tls'].some((name) => (isStart ? name.startsWith(text) : name === text)),
      meant: (text) => text.toLowerCase(),
    },
  ],
  [
    'conn.geo.country_code',
    {
      rule: 'it is two letters in upper case',
      allows: (text, isStart) => (isStart ? /^[A-Z]{0,2}$/ : /^[A-Z]{2}$/).test(text),
      meant: (text) => text.toUpperCase(),
    },
  ],
]);
