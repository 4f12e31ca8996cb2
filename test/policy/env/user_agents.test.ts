import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyText } from '../../any_text.ts';
import { parseUserAgent } from '../../../src/policy/env/user_agent.ts';
import { activation, evaluate } from './exchange.ts';
import { sized } from '../../random.ts';

type Kind = 'desktop' | 'mobile' | 'tablet' | 'bot' | 'other';
/** Name, version, system, its version, device, kind. */
type Row = readonly [agent: string, expected: readonly [string, string, string, string, string, Kind]];

const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)';

const BROWSERS: readonly Row[] = [
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/120.0.0.0 Safari/537.36`,
    ['Chrome', '120.0.0.0', 'Windows', '10', '', 'desktop'],
  ],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/120.0.0.0 Safari/537.36 Edg/120.0.2210.91`,
    ['Edge', '120.0.2210.91', 'Windows', '10', '', 'desktop'],
  ],
  [
    `Mozilla/5.0 (Windows NT 6.1) ${WEBKIT} Chrome/106.0.0.0 Safari/537.36 OPR/92.0.0.0`,
    ['Opera', '92.0.0.0', 'Windows', '7', '', 'desktop'],
  ],
  [
    'Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:121.0) Gecko/20100101 Firefox/121.0',
    ['Firefox', '121.0', 'Linux', '', '', 'desktop'],
  ],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.2 Safari/605.1.15',
    ['Safari', '17.2', 'macOS', '10.15.7', 'Mac', 'desktop'],
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_2_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.2 Mobile/15E148 Safari/604.1',
    ['Safari', '17.2', 'iOS', '17.2.1', 'iPhone', 'mobile'],
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_2 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/120.0.6099.119 Mobile/15E148 Safari/604.1',
    ['Chrome', '120.0.6099.119', 'iOS', '17.2', 'iPhone', 'mobile'],
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_2 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) FxiOS/121.0 Mobile/15E148 Safari/605.1.15',
    ['Firefox', '121.0', 'iOS', '17.2', 'iPhone', 'mobile'],
  ],
  [
    'Mozilla/5.0 (iPad; CPU OS 16_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.5 Mobile/15E148 Safari/604.1',
    ['Safari', '16.5', 'iOS', '16.5', 'iPad', 'tablet'],
  ],
  [
    `Mozilla/5.0 (Linux; Android 14; Pixel 8) ${WEBKIT} Chrome/120.0.6099.144 Mobile Safari/537.36`,
    ['Chrome', '120.0.6099.144', 'Android', '14', 'Pixel 8', 'mobile'],
  ],
  [
    `Mozilla/5.0 (Linux; Android 13; SM-X906C Build/TP1A.220624.014; wv) ${WEBKIT} Version/4.0 Chrome/80.0.3987.119 Safari/537.36`,
    ['Chrome', '80.0.3987.119', 'Android', '13', 'SM-X906C', 'tablet'],
  ],
  [
    `Mozilla/5.0 (Linux; Android 13; SAMSUNG SM-S918B) ${WEBKIT} SamsungBrowser/23.0 Chrome/115.0.0.0 Mobile Safari/537.36`,
    ['Samsung Internet', '23.0', 'Android', '13', 'SAMSUNG SM-S918B', 'mobile'],
  ],
  [
    `Mozilla/5.0 (Linux; Android 10; K) ${WEBKIT} Chrome/120.0.0.0 Mobile Safari/537.36`,
    ['Chrome', '120.0.0.0', 'Android', '10', '', 'mobile'],
  ],
  [
    'Mozilla/5.0 (Android 14; Mobile; rv:121.0) Gecko/121.0 Firefox/121.0',
    ['Firefox', '121.0', 'Android', '14', '', 'mobile'],
  ],
  [
    'Mozilla/5.0 (Android 12; Tablet; rv:121.0) Gecko/121.0 Firefox/121.0',
    ['Firefox', '121.0', 'Android', '12', '', 'tablet'],
  ],
  [
    'Mozilla/5.0 (Linux; U; Android 2.3.6; en-us; Nexus S Build/GRK39F) AppleWebKit/533.1 (KHTML, like Gecko) Version/4.0 Mobile Safari/533.1',
    ['Android Browser', '4.0', 'Android', '2.3.6', 'Nexus S', 'mobile'],
  ],
  [
    `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${WEBKIT} Chrome/120.0.0.0 Safari/537.36`,
    ['Chrome', '120.0.0.0', 'Chrome OS', '14541.0.0', '', 'desktop'],
  ],
  [
    'Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko',
    ['Internet Explorer', '11.0', 'Windows', '10', '', 'desktop'],
  ],
  [
    'Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 6.1; Trident/4.0)',
    ['Internet Explorer', '8.0', 'Windows', '7', '', 'desktop'],
  ],
  [
    'Opera/9.80 (Windows NT 6.1; U; en) Presto/2.12.388 Version/12.18',
    ['Opera', '12.18', 'Windows', '7', '', 'desktop'],
  ],
];

const OTHERS: readonly Row[] = [
  ['curl/8.5.0', ['curl', '8.5.0', '', '', '', 'other']],
  ['Wget/1.21.4', ['Wget', '1.21.4', '', '', '', 'other']],
  ['python-requests/2.31.0', ['Python Requests', '2.31.0', '', '', '', 'other']],
  ['Go-http-client/1.1', ['Go http client', '1.1', '', '', '', 'other']],
  ['okhttp/4.12.0', ['OkHttp', '4.12.0', '', '', '', 'other']],
  ['PostmanRuntime/7.36.0', ['Postman', '7.36.0', '', '', '', 'other']],
  ['kube-probe/1.29', ['Kubernetes probe', '1.29', '', '', '', 'other']],
  ['acme-shop/3.1 (Linux x86_64)', ['acme-shop', '3.1', 'Linux', '', '', 'desktop']],
  ['', ['', '', '', '', '', 'other']],
];

const BOTS: readonly (readonly [agent: string, name: string, url: string])[] = [
  [
    'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    'Googlebot',
    'http://www.google.com/bot.html',
  ],
  [
    `Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) ${WEBKIT} Chrome/119.0.0.0 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)`,
    'Googlebot',
    'http://www.google.com/bot.html',
  ],
  [
    'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
    'Bingbot',
    'http://www.bing.com/bingbot.htm',
  ],
  [
    'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)',
    'GPTBot',
    'https://openai.com/gptbot',
  ],
  [
    'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; +claudebot@anthropic.com)',
    'ClaudeBot',
    '',
  ],
  [
    'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
    'Facebook',
    'http://www.facebook.com/externalhit_uatext.php',
  ],
  ['Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)', 'Slackbot', 'https://api.slack.com/robots'],
  ['CCBot/2.0 (https://commoncrawl.org/faq/)', 'CCBot', 'https://commoncrawl.org/faq/'],
  [
    'Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)',
    'Yahoo! Slurp',
    'http://help.yahoo.com/help/us/ysearch/slurp',
  ],
  ['acme-crawler/0.3 (ops@acme.example)', 'acme-crawler', ''],
  ['TelegramBot (like TwitterBot)', 'TelegramBot', ''],
];

function kindOf(agent: string): Kind {
  const { isDesktop, isMobile, isTablet, isBot } = parseUserAgent(agent);
  const kinds: Kind[] = [];
  if (isDesktop) kinds.push('desktop');
  if (isMobile) kinds.push('mobile');
  if (isTablet) kinds.push('tablet');
  if (isBot) kinds.push('bot');
  expect(kinds.length).toBeLessThanOrEqual(1);
  return kinds[0] ?? 'other';
}

describe('user agents', () => {
  test.each([...BROWSERS, ...OTHERS])('%s', (agent, [name, version, os, osVersion, device, kind]) => {
    expect(parseUserAgent(agent)).toMatchObject({ name, version, os, osVersion, device });
    expect(kindOf(agent)).toBe(kind);
  });

  test.each(BOTS)('robot: %s', (agent, name, url) => {
    const parsed = parseUserAgent(agent);
    expect(kindOf(agent)).toBe('bot');
    expect(parsed.url).toBe(url);
    expect(parsed.name).toBe(name);
  });

  test.each([
    'Mozilla/5.0 (Linux; Android 9; CUBOT) AppleWebKit/537.36 Chrome/90.0',
    'CUBOT/1',
    'Abbott/1.0',
    'robotics-app/2',
    'botanica/1.0',
  ])('%s is not a robot', (agent) => {
    expect(kindOf(agent)).not.toBe('bot');
  });

  test('the field is a string with fields', () => {
    const at = activation({ request: { headers: ['User-Agent', BROWSERS[9]![0]] } });
    expect(evaluate("req.user_agent.contains('Pixel') && req.user_agent.name == 'Chrome'", at)).toBe(true);
    expect(evaluate("req.user_agent.os + req.user_agent.os_version + ' ' + req.user_agent.device", at)).toBe(
      'Android14 Pixel 8',
    );
    expect(
      evaluate('req.user_agent.is_mobile && !req.user_agent.is_tablet && !req.user_agent.is_desktop', at),
    ).toBe(true);
    const none = activation({ request: { headers: [] } });
    expect(
      evaluate("req.user_agent == '' && req.user_agent.name == '' && !req.user_agent.is_bot", none),
    ).toBe(true);
  });

  test('any text is parsed without an exception, and every part comes from it', () => {
    const words = fc.constantFrom(
      'Mozilla/5.0',
      '(',
      ')',
      ';',
      ' ',
      'Android',
      'Linux',
      'Chrome/1',
      'CPU OS ',
      'bot',
      '__proto__',
      'constructor/1',
      'http://',
      '/',
    );
    const agents = fc.oneof(
      fc.array(words, { maxLength: 20 }).map((parts) => parts.join('')),
      anyText({ maxLength: 80 }),
    );
    fc.assert(
      fc.property(agents, (agent) => {
        const parsed = parseUserAgent(agent);
        for (const part of [parsed.version, parsed.url]) expect(agent).toContain(part);
        kindOf(agent);
      }),
      sized(3_000, 13),
    );
  });

  test('hostile fields take linear time', () => {
    const started = performance.now();
    for (const piece of ['(', ')', ';', '(;', 'a/', 'a ', '/ (', 'http://'])
      parseUserAgent(piece.repeat(200_000));
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});
