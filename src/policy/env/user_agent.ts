import { BOTS, BROWSERS, ROBOT_WORD, TOOLS, WINDOWS } from './user_agent_table.ts';

export interface UserAgent {
  readonly name: string;
  readonly version: string;
  readonly os: string;
  readonly osVersion: string;
  readonly device: string;
  readonly isMobile: boolean;
  readonly isTablet: boolean;
  readonly isDesktop: boolean;
  readonly isBot: boolean;
  readonly url: string;
}

/** Number of characters read; genuine agents send fewer. */
const READ_UNITS = 2_048;

interface Tokens {
  /** Versions by lower-case product name; the first of a duplicate name counts. */
  readonly products: ReadonlyMap<string, string>;
  /** Product names as written, in order. */
  readonly names: readonly string[];
  /** Parts of comments, separated by semicolons, trimmed, in order. */
  readonly comments: readonly string[];
  /** Parts of the first comment, which describes the system and the device. */
  readonly system: readonly string[];
}

/**
 * Parses a `User-Agent` field (RFC 9110 §10.1.5: products and comments) with a table of common browsers, tools
 * and robots. Linear; an unknown agent is named after its first product. Fields that do not apply are empty.
 */
export function parseUserAgent(whole: string): UserAgent {
  const text = whole.slice(0, READ_UNITS);
  const tokens = tokensOf(text);
  const { comments, system } = tokens;
  const bot = botOf(tokens);
  const { name, version } = bot ?? clientOf(tokens);
  const { os, osVersion } = systemOf(comments);
  const device = deviceOf(system, os);
  const isBot = bot !== undefined;
  const isTablet = !isBot && isTabletOf(tokens, os, device);
  const isMobile = !isBot && !isTablet && isMobileOf(tokens, os, device);
  const isDesktop = !isBot && !isTablet && !isMobile && DESKTOPS.has(os);
  return { name, version, os, osVersion, device, isMobile, isTablet, isDesktop, isBot, url: urlOf(text) };
}

function tokensOf(text: string): Tokens {
  const products = new Map<string, string>();
  const names: string[] = [];
  const comments: string[] = [];
  let inFirst = 0;
  let at = 0;
  while (at < text.length) {
    if (text[at] === '(') {
      const end = endOfComment(text, at);
      for (const part of text.slice(at + 1, end).split(';')) comments.push(part.trim());
      if (inFirst === 0) inFirst = comments.length;
      at = end + 1;
      continue;
    }
    let end = at;
    while (end < text.length && text[end] !== ' ' && text[end] !== '(') end++;
    const product = text.slice(at, end);
    if (product !== '') addProduct(product, products, names);
    at = text[end] === ' ' ? end + 1 : end;
  }
  // Robots name themselves inside comments: (compatible; Googlebot/2.1; +http://…).
  for (const part of comments) {
    const [first = ''] = part.split(' ', 1);
    if (first.includes('/') && !first.includes('://')) addProduct(first, products, names);
    const last = part.slice(part.lastIndexOf(' ') + 1);
    if (Object.hasOwn(BOTS, last.toLowerCase())) addProduct(last, products, names);
  }
  return { products, names, comments, system: comments.slice(0, inFirst) };
}

function addProduct(product: string, products: Map<string, string>, names: string[]): void {
  const slash = product.indexOf('/');
  const name = (slash < 0 ? product : product.slice(0, slash)).replace(/[;,]$/, '');
  const version = slash < 0 ? '' : product.slice(slash + 1);
  names.push(name);
  const lower = name.toLowerCase();
  if (!products.has(lower)) products.set(lower, version.split(/[;,)]/, 1)[0]!);
}

function endOfComment(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    if (text[at] === '(') depth++;
    else if (text[at] === ')' && --depth === 0) return at;
  }
  return text.length;
}

interface Named {
  readonly name: string;
  readonly version: string;
}

function botOf({ products, names }: Tokens): Named | undefined {
  let guessed: Named | undefined;
  for (const name of names) {
    const lower = name.toLowerCase();
    const version = products.get(lower) ?? '';
    if (Object.hasOwn(BOTS, lower)) return { name: BOTS[lower]!, version };
    if (guessed === undefined && ROBOT_WORD.test(name)) guessed = { name, version };
  }
  return guessed;
}

function clientOf({ products, names, comments }: Tokens): Named {
  for (const [token, name] of BROWSERS) {
    const version = products.get(token);
    if (version !== undefined) return { name, version: token === 'opera' ? operaVersion(products) : version };
  }
  const explorer = comments.find((part) => part.startsWith('MSIE '));
  if (explorer !== undefined) return { name: 'Internet Explorer', version: explorer.slice(5) };
  if (comments.some((part) => part.startsWith('Trident/'))) {
    const revision = comments.find((part) => part.startsWith('rv:'));
    return { name: 'Internet Explorer', version: revision?.slice(3) ?? '' };
  }
  if (products.has('safari')) {
    const isAndroid = comments.some((part) => part.startsWith('Android'));
    return { name: isAndroid ? 'Android Browser' : 'Safari', version: products.get('version') ?? '' };
  }
  for (const name of names) {
    const lower = name.toLowerCase();
    if (Object.hasOwn(TOOLS, lower)) return { name: TOOLS[lower]!, version: products.get(lower) ?? '' };
  }
  const first = names[0] ?? '';
  return { name: first, version: products.get(first.toLowerCase()) ?? '' };
}

/** Opera up to 12 kept `Opera/9.80` and put its version in another token. */
function operaVersion(products: ReadonlyMap<string, string>): string {
  return products.get('version') ?? products.get('opera') ?? '';
}

interface System {
  readonly os: string;
  readonly osVersion: string;
}

type SystemRow = readonly [os: string, read: (part: string) => string | undefined];

/** In this order: agents often name the underlying system too. */
const SYSTEMS: readonly SystemRow[] = [
  ['Windows Phone', after('Windows Phone ')],
  ['Windows', (part) => mapped(after('Windows NT ')(part)) ?? (part === 'Windows' ? '' : undefined)],
  ['Android', (part) => after('Android ')(part) ?? (part === 'Android' ? '' : undefined)],
  ['iOS', (part) => underscored(after('CPU iPhone OS ')(part) ?? after('CPU OS ')(part))],
  ['macOS', (part) => underscored(after('Intel Mac OS X ')(part) ?? after('PPC Mac OS X ')(part))],
  ['macOS', bareMac],
  ['Chrome OS', (part) => after('CrOS ')(part)?.split(' ').at(-1)],
  ['FreeBSD', (part) => (part.startsWith('FreeBSD') ? '' : undefined)],
  ['OpenBSD', (part) => (part.startsWith('OpenBSD') ? '' : undefined)],
  ['Tizen', after('Tizen ')],
  ['KaiOS', after('KAIOS/')],
  ['Linux', (part) => (part.startsWith('Linux') || part === 'Ubuntu' ? '' : undefined)],
];

const DESKTOPS: ReadonlySet<string> = new Set([
  'Windows',
  'macOS',
  'Chrome OS',
  'Linux',
  'FreeBSD',
  'OpenBSD',
]);

function systemOf(comments: readonly string[]): System {
  for (const [os, read] of SYSTEMS) {
    for (const part of comments) {
      const osVersion = read(part);
      if (osVersion !== undefined) return { os, osVersion };
    }
  }
  return { os: '', osVersion: '' };
}

function after(prefix: string): (part: string) => string | undefined {
  return (part) => (part.startsWith(prefix) ? part.slice(prefix.length) : undefined);
}

function mapped(version: string | undefined): string | undefined {
  if (version === undefined) return undefined;
  return Object.hasOwn(WINDOWS, version) ? WINDOWS[version] : version;
}

function underscored(text: string | undefined): string | undefined {
  return text?.split(' ', 1)[0]?.replaceAll('_', '.');
}

function bareMac(part: string): string | undefined {
  return part === 'Intel Mac OS X' || part === 'Macintosh' ? '' : undefined;
}

const APPLE_DEVICES = ['iPhone', 'iPad', 'iPod touch', 'iPod', 'Macintosh'];

function deviceOf(system: readonly string[], os: string): string {
  const apple = APPLE_DEVICES.find((device) => system.includes(device));
  if (apple !== undefined) return apple === 'Macintosh' ? 'Mac' : apple;
  if (os !== 'Android') return '';
  const at = system.findIndex((part) => part.startsWith('Android'));
  // The model follows the system, sometimes after a locale, sometimes before a build.
  for (const part of system.slice(at + 1)) {
    const model = part.split(' Build', 1)[0]!.trim();
    const isModel = model !== '' && !/^(?:[a-z]{2}[-_][a-zA-Z]{2}|wv|K|U|Mobile|Tablet|rv:.*)$/.test(model);
    if (isModel && !model.includes('/')) return model;
  }
  return '';
}

function isTabletOf({ products, comments }: Tokens, os: string, device: string): boolean {
  if (device === 'iPad' || comments.includes('Tablet')) return true;
  return (
    os === 'Android' && !products.has('mobile') && !comments.includes('Mobile') && products.has('applewebkit')
  );
}

function isMobileOf({ products, comments }: Tokens, os: string, device: string): boolean {
  if (device.startsWith('iP') || products.has('mobile') || comments.includes('Mobile')) return true;
  return os === 'Windows Phone' || os === 'KaiOS' || os === 'iOS' || os === 'Android';
}

/** The page that a robot names about itself. */
function urlOf(text: string): string {
  const start = text.search(/https?:\/\//);
  if (start < 0) return '';
  const end = text.slice(start).search(/[\s;,)\]"'>]/);
  return end < 0 ? text.slice(start) : text.slice(start, start + end);
}
