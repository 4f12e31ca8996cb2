import { type FormField, formField, multipart, urlEncoded } from './curl_body.ts';
import { shellWords } from './shell_words.ts';

/** The request of a curl command line. */
export interface CurlRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string | null;
}

/** Flags that do not affect the test. */
const QUIET = new Set([
  '-s',
  '--silent',
  '-S',
  '--show-error',
  '-v',
  '--verbose',
  '-i',
  '--include',
  '-k',
  '--insecure',
]);
const QUIET_MORE = new Set([
  '-L',
  '--location',
  '-f',
  '--fail',
  '-g',
  '--globoff',
  '--http1.1',
  '--path-as-is',
  '-N',
  '--no-buffer',
  '-#',
  '--progress-bar',
  '--no-progress-meter',
  '--fail-with-body',
  '-4',
  '--ipv4',
  '-6',
  '--ipv6',
  '-O',
  '--remote-name',
]);
/** Options with a value that do not affect the test. */
const IGNORED = new Set([
  '-o',
  '--output',
  '-m',
  '--max-time',
  '--connect-timeout',
  '--resolve',
  '--cacert',
  '-w',
  '--write-out',
  '--retry',
  '--max-redirs',
]);
const DATA = new Set(['-d', '--data', '--data-ascii', '--data-raw', '--data-binary']);

interface Reading {
  method: string | null;
  url: string | null;
  readonly headers: [string, string][];
  readonly data: string[];
  readonly form: FormField[];
  isJson: boolean;
  asGet: boolean;
  head: boolean;
}

/** Parses a curl command line; problems are sentences. */
export function readCurl(line: string): CurlRequest | { readonly problem: string } {
  const words = shellWords(line.trim());
  if (words === null) return { problem: 'a quote is not closed' };
  if (words[0] === 'curl') words.shift();
  const reading: Reading = {
    method: null,
    url: null,
    headers: [],
    data: [],
    form: [],
    isJson: false,
    asGet: false,
    head: false,
  };
  for (let at = 0; at < words.length; at++) {
    for (const word of apart(words[at]!)) {
      const [option, inline] = split(word);
      let isMissing = false;
      const value = (): string => {
        if (inline !== undefined) return inline;
        isMissing = at + 1 >= words.length;
        return words[++at] ?? '';
      };
      const problem = take(option, value, reading);
      if (isMissing) return { problem: `the option ${option} needs a value` };
      if (problem !== null) return { problem };
    }
  }
  return made(reading);
}

function take(option: string, value: () => string, reading: Reading): string | null {
  if (!option.startsWith('-') || option === '-') return takeUrl(option, reading);
  if (QUIET.has(option) || QUIET_MORE.has(option)) return null;
  if (IGNORED.has(option)) return (void value(), null);
  if (DATA.has(option)) return takeData(option, value(), reading);
  switch (option) {
    case '-X':
    case '--request':
      reading.method = value();
      return null;
    case '--url':
      return takeUrl(value(), reading);
    case '-H':
    case '--header':
      return takeHeader(value(), reading);
    case '--json':
      reading.isJson = true;
      reading.data.push(value());
      reading.headers.push(['content-type', 'application/json'], ['accept', 'application/json']);
      return null;
    case '-A':
    case '--user-agent':
      reading.headers.push(['user-agent', value()]);
      return null;
    case '-e':
    case '--referer':
      reading.headers.push(['referer', value()]);
      return null;
    case '-b':
    case '--cookie':
      return takeCookie(value(), reading);
    case '-u':
    case '--user':
      reading.headers.push(basic(value()));
      return null;
    case '--oauth2-bearer':
      reading.headers.push(['authorization', `Bearer ${value()}`]);
      return null;
    case '-F':
    case '--form':
    case '--form-string':
      return takeForm(value(), option, reading);
    case '--data-urlencode':
      return takeEncoded(value(), reading);
    case '--compressed':
      reading.headers.push(['accept-encoding', 'deflate, gzip, br']);
      return null;
    case '-G':
    case '--get':
      reading.asGet = true;
      return null;
    case '-I':
    case '--head':
      reading.head = true;
      return null;
    default:
      return `the option ${option} is not supported`;
  }
}

function takeData(option: string, text: string, { data }: Reading): string | null {
  if (text.startsWith('@') && option !== '--data-raw')
    return `${option} ${text} reads a file; write its content, or use \`request\` with \`body\``;
  data.push(text);
  return null;
}

function takeEncoded(text: string, { data }: Reading): string | null {
  const piece = urlEncoded(text);
  if (piece === null) return `--data-urlencode ${text} reads a file; write its content`;
  data.push(piece);
  return null;
}

function takeForm(text: string, option: string, { form }: Reading): string | null {
  const field = formField(text, option === '--form-string');
  if ('problem' in field) return field.problem;
  form.push(field);
  return null;
}

function takeCookie(text: string, { headers }: Reading): string | null {
  if (!text.includes('=')) return `-b ${text} reads a file; write its cookies as \`name=value\``;
  headers.push(['cookie', text]);
  return null;
}

function basic(user: string): [name: string, value: string] {
  return ['authorization', `Basic ${Buffer.from(user).toString('base64')}`];
}

function takeUrl(url: string, reading: Reading): string | null {
  if (reading.url !== null) return `there is more than one URL: ${reading.url} and ${url}`;
  reading.url = url;
  return null;
}

function takeHeader(text: string, { headers }: Reading): string | null {
  const [, empty] = /^([^:;\s]+);$/.exec(text) ?? [];
  if (empty !== undefined) {
    headers.push([empty, '']);
    return null;
  }
  const colon = text.indexOf(':');
  if (colon <= 0) return `'${text}' is not a header`;
  // `name:` removes a default field of curl, none of which matters here.
  const value = text.slice(colon + 1).trim();
  if (value !== '') headers.push([text.slice(0, colon), value]);
  return null;
}

function made(reading: Reading): CurlRequest | { readonly problem: string } {
  const { method, data, form, isJson, asGet, head } = reading;
  if (reading.url === null) return { problem: 'there is no URL' };
  if (form.length > 0 && data.length > 0) return { problem: '-F and -d cannot be used together' };
  const { url, user } = sentUrl(reading.url);
  const headers = [...reading.headers];
  if (user !== null && !has(headers, 'authorization')) headers.push(basic(user));
  const text = data.join(isJson ? '' : '&');
  const isBody = data.length > 0 && !asGet;
  const multi = form.length === 0 ? null : multipart(form);
  if (multi !== null && !has(headers, 'content-type')) headers.push(['content-type', multi.type]);
  else if (isBody && !has(headers, 'content-type'))
    headers.push(['content-type', 'application/x-www-form-urlencoded']);
  const body = multi?.body ?? (isBody ? text : null);
  return {
    method: method ?? (head ? 'HEAD' : body === null ? 'GET' : 'POST'),
    url: data.length > 0 && asGet ? `${url}${url.includes('?') ? '&' : '?'}${text}` : url,
    headers,
    body,
  };
}

function has(headers: Reading['headers'], wanted: string): boolean {
  return headers.some(([name]) => name.toLowerCase() === wanted);
}

/** The URL without its fragment, which is not sent, and without its user, who is sent in a field. */
function sentUrl(given: string): { readonly url: string; readonly user: string | null } {
  const url = (given.includes('://') ? given : `http://${given}`).replace(/#.*$/s, '');
  const [, scheme, user, rest] = /^(\w+:\/\/)([^/?@]*)@(.*)$/s.exec(url) ?? [];
  if (user === undefined) return { url, user: null };
  return { url: `${scheme!}${rest!}`, user: percentDecoded(user.includes(':') ? user : `${user}:`) };
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** `-sSL` is `-s -S -L`: flags can be combined; the last one may have a value. */
function apart(word: string): readonly string[] {
  if (!/^-[a-zA-Z]{2,}/.test(word)) return [word];
  let at = 1;
  while (at < word.length && isQuiet(`-${word[at]!}`)) at++;
  const rest = word.slice(at);
  return [...Array.from(word.slice(1, at), (letter) => `-${letter}`), ...(rest === '' ? [] : [`-${rest}`])];
}

function isQuiet(option: string): boolean {
  return QUIET.has(option) || QUIET_MORE.has(option) || option === '-G' || option === '-I';
}

/** Splits `--name=value` and `-Xvalue`. */
function split(word: string): [option: string, value: string | undefined] {
  const long = /^(--[a-z][a-z0-9.-]*)=(.*)$/s.exec(word);
  if (long !== null) return [long[1]!, long[2]!];
  const short = /^(-[XHdAebuFomw])(.+)$/s.exec(word);
  return short === null ? [word, undefined] : [short[1]!, short[2]!];
}
