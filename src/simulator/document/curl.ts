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
  '-#',
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
]);
const DATA = new Set(['-d', '--data', '--data-ascii', '--data-raw', '--data-binary']);

interface Reading {
  method: string | null;
  url: string | null;
  readonly headers: [string, string][];
  readonly data: string[];
  asGet: boolean;
  head: boolean;
}

/** Parses a curl command line; problems are sentences. */
export function readCurl(line: string): CurlRequest | { readonly problem: string } {
  const words = shellWords(line.trim());
  if (words === null) return { problem: 'a quote is not closed' };
  if (words[0] === 'curl') words.shift();
  const reading: Reading = { method: null, url: null, headers: [], data: [], asGet: false, head: false };
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
      reading.headers.push(['cookie', value()]);
      return null;
    case '-u':
    case '--user':
      reading.headers.push(['authorization', `Basic ${Buffer.from(value()).toString('base64')}`]);
      return null;
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

function takeUrl(url: string, reading: Reading): string | null {
  if (reading.url !== null) return `there is more than one URL: ${reading.url} and ${url}`;
  reading.url = url;
  return null;
}

function takeHeader(text: string, reading: Reading): string | null {
  const colon = text.indexOf(':');
  if (colon <= 0) return `'${text}' is not a header`;
  // `name:` removes a default field of curl, none of which matters here.
  const value = text.slice(colon + 1).trim();
  if (value !== '') reading.headers.push([text.slice(0, colon), value]);
  return null;
}

function made({
  method,
  url,
  headers,
  data,
  asGet,
  head,
}: Reading): CurlRequest | { readonly problem: string } {
  if (url === null) return { problem: 'there is no URL' };
  const text = data.join('&');
  const hasType = headers.some(([name]) => name.toLowerCase() === 'content-type');
  const isBody = data.length > 0 && !asGet;
  const typed: [string, string][] =
    isBody && !hasType ? [['content-type', 'application/x-www-form-urlencoded']] : [];
  const target = data.length > 0 && asGet ? `${url}${url.includes('?') ? '&' : '?'}${text}` : url;
  return {
    method: method ?? (head ? 'HEAD' : isBody ? 'POST' : 'GET'),
    url: target.includes('://') ? target : `http://${target}`,
    headers: [...headers, ...typed],
    body: isBody ? text : null,
  };
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
  const short = /^(-[XHdAebu])(.+)$/s.exec(word);
  return short === null ? [word, undefined] : [short[1]!, short[2]!];
}

/** Words as a POSIX shell splits them; null for an unclosed quote. */
function shellWords(line: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  for (let at = 0; at < line.length; at++) {
    const char = line[at]!;
    if (char === "'" || char === '"') {
      const end = closing(line, at);
      if (end < 0) return null;
      const inside = line.slice(at + 1, end);
      word =
        (word ?? '') +
        (char === "'" ? inside : inside.replaceAll(/\\(["\\$`])/g, '$1').replaceAll('\\\n', ''));
      at = end;
    } else if (char === '\\') {
      at++;
      if (line[at] !== '\n') word = (word ?? '') + (line[at] ?? '');
    } else if (/\s/.test(char)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? '') + char;
  }
  if (word !== null) words.push(word);
  return words;
}

function closing(line: string, start: number): number {
  const quote = line[start]!;
  for (let at = start + 1; at < line.length; at++) {
    if (quote === '"' && line[at] === '\\') at++;
    else if (line[at] === quote) return at;
  }
  return -1;
}
