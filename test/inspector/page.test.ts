import { gzipSync } from 'node:zlib';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { DraftAnswer } from '../../src/inspector/wire_editing.ts';
import { ensureBuilt } from '../built.ts';
import { type Page, expectAccessible, expectFits, hasChromiumFor } from '../chromium.ts';
import { detailOf, rowOf, stoppedRow, PLACE } from './exchanges.ts';
import { type OpenedPages, openPages, pathsOf } from './opened_page.ts';
import { OVERVIEW, secondOf } from './overview_of_tests.ts';
import { type WireServer, startWireServer } from './wire_server.ts';

const PAGES = join(import.meta.dirname, '../../dist/inspector');
const hasChromium = hasChromiumFor('the inspector’s page');

beforeAll(() => ensureBuilt(), 180_000);

test('the shell stays within 45 kB, its editor within 130 kB', () => {
  const sizeOf = (name: string) => gzipSync(readFileSync(join(PAGES, name)), { level: 9 }).length;
  const shell = ['index.html', 'page.js', 'page.css'].map(sizeOf);
  expect(shell.reduce((sum, size) => sum + size, 0)).toBeLessThan(45_000);
  expect(sizeOf(readdirSync(PAGES).find((name) => name.startsWith('editor'))!)).toBeLessThan(130_000);
});

describe.skipIf(!hasChromium)('in Chromium', () => {
  let pages: OpenedPages;
  let server: WireServer;
  let page: Page;
  beforeAll(async () => void (pages = await openPages()), 60_000);
  afterAll(() => pages.close());

  beforeEach(async () => {
    server = await startWireServer();
    const rows = [rowOf(1), stoppedRow(2), rowOf(3, { method: 'POST', status: 503 })];
    server.add(rows);
    page = await pages.open(server.url);
    await expect.poll(() => pathsOf(page)).toHaveLength(3);
  });
  afterEach(async () => {
    await pages.closePages();
    await server.stop();
    expect(pages.complaints.splice(0)).toEqual([]);
  });
  // oxlint-disable-next-line vitest/require-awaited-expect-poll -- each caller awaits it
  const text = (selector: string) => expect.poll(() => page.locator(selector).first().textContent());
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };

  test('new rows are first; text, clicked values and their opposite filter', async () => {
    expect(await pathsOf(page)).toEqual(['/items/3', '/admin', '/items/1']);
    server.add([rowOf(4, { target: '/new' })]);
    await expect.poll(() => pathsOf(page)).toHaveLength(4);
    expect(await page.locator('.row .path').first().textContent()).toBe('/new');
    await page.fill('#filter', 'admin');
    await expect.poll(() => pathsOf(page)).toEqual(['/admin']);
    await page.fill('#filter', '');
    await expect.poll(() => pathsOf(page)).toHaveLength(4);
    await page.locator('.row .status .value').first().click();
    await expect.poll(() => pathsOf(page)).toEqual(['/new', '/items/1']);
    await text('.chip').toContain('status is 200');
    await page.locator('.chip button').click();
    await page
      .locator('.row .method .value')
      .first()
      .click({ modifiers: ['Alt'] });
    await expect.poll(() => pathsOf(page)).toEqual(['/items/3']);
    await press('Escape');
    await expect.poll(() => pathsOf(page)).toHaveLength(4);
  });

  test('Enter searches headers and bodies on the server', async () => {
    await page.fill('#filter', 'lamp');
    await expect.poll(() => pathsOf(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await expect.poll(() => pathsOf(page)).toHaveLength(3);
    expect(server.asked.get('POST search')).toEqual([{ text: 'lamp', limit: 2000 }]);
  });

  test('an expression completes, shows its error in place, and filters the feed', async () => {
    await press('x');
    await page.keyboard.type('ev.nmae');
    await text('.located mark').toBe('nmae');
    await text('.located').toContain('did you mean');
    await page.fill('#filter', 'ev.h');
    await text('#candidates li').toContain('status_code');
    await press('ArrowDown', 'Enter');
    expect(await page.locator('#filter').inputValue()).toBe('ev.http.response.status_code');
    await expect.poll(() => pages.requests.some((url) => url.endsWith('filter=f28'))).toBe(true);
  });

  test('pause holds the list; what waits is counted; clear keeps what is pinned', async () => {
    await press('p');
    server.add([rowOf(4), rowOf(5)]);
    await text('.counts').toContain('2 waiting');
    expect(await pathsOf(page)).toHaveLength(3);
    await press('p');
    await expect.poll(() => pathsOf(page)).toHaveLength(5);
    await press('j', 'j', 'i');
    await expect.poll(() => page.locator('.row .at span').count()).toBe(1);
    await press('Escape', 'c');
    await expect.poll(() => pathsOf(page)).toEqual(['/items/4']);
  });

  test('what was missed and not kept is counted, and can be fetched', async () => {
    server.send({ type: 'missed', count: 1234 });
    const kept = {
      rows: 3,
      bytes: 10,
      limitBytes: 100,
      bodyLimitBytes: 10,
      dropped: 7,
      unwatched: 5,
      pinned: [],
    };
    server.send({ type: 'stats', stats: secondOf(1), kept });
    await text('.counts').toContain('12 not kept');
    await page.locator('.counts button').click();
    await expect.poll(() => page.locator('.counts button').count()).toBe(0);
    await text('.pulse').toContain('208/s');
  });

  test('the explanation shows steps, false rules with their values, time, and the source', async () => {
    await press('j', 'j');
    await text('.steps .deciding').toContain('The address is not allowed');
    await text('.steps .deciding .source').toContain('cidr: 203.0.113.128/25');
    await text('.steps .why').toContain("req.method is 'GET'");
    await text('.steps mark').toBe("req.method == 'POST'");
    expect(await page.locator('.part_values td').allTextContents()).toEqual([
      'false',
      "'GET'",
      'the part before it was false',
    ]);
    expect(await page.locator('.steps .took').allTextContents()).toEqual(['400 ns', '6.1 µs', '400 ns']);
    await page.locator('.steps .deciding .place').click();
    await text('.editor .cm-activeLine').toContain('203.0.113.128/25');
  });

  test('the parts of an exchange: header differences, bodies, timing, event', async () => {
    await press('j', 'j', 'j');
    await text('.steps .deciding').toContain('It answered');
    await press(']');
    await text('#tab_panel').toContain('GET /items/1 HTTP/1.1');
    await press(']');
    await text('#tab_panel .body pre').toBe('{\n  "name": "lamp",\n  "price": 9\n}');
    await press(']');
    expect(await page.locator('.fields .removed').allTextContents()).toEqual(['− removed: Hostshop.test']);
    expect(await page.locator('.fields .added').allTextContents()).toEqual([
      '+ added: Hostlocalhost:3000',
      '+ added: X-Forwarded-For203.0.113.9',
    ]);
    await press(']');
    await text('#tab_panel').toContain('TLS_AES_128_GCM_SHA256');
    await press(']');
    await text('#tab_panel pre').toContain('"status_code": 200');
  });

  test('bodies: form, multipart, image; messages of a WebSocket', async () => {
    const row = rowOf(3, { method: 'POST', status: 503 });
    const plain = detailOf(row);
    const png =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
    const request = {
      ...plain.exchange.request,
      headers: ['Content-Type', 'application/x-www-form-urlencoded'],
      body: { bytes: 5_000_000, text: 'name=lamp+post', truncated: true } as const,
    };
    const responseBody = { bytes: 70, base64: png };
    const response = { status: 503, headers: ['Content-Type', 'image/png'], body: responseBody };
    const frames = {
      kind: 'websocket',
      dropped: 3,
      list: [
        { from: 'client', after: 4, type: 'text', bytes: 9, text: '{"a":"<b>"}' },
        { from: 'upstream', after: null, type: 'binary', bytes: 2, base64: 'AAE=' },
      ],
    } as const;
    const exchange = { ...plain.exchange, request, response, forwards: [] };
    server.details.set(3, { ...plain, exchange, responseBody, frames });
    await press('j');
    await text('.detail h2').toContain('POST');
    await press(']');
    await text('.body .facts').toContain('5.0 MB');
    await text('.body .flag').toContain('only its beginning');
    await text('.body .fields').toContain('lamp post');
    await press(']');
    await text('figcaption').toContain('1 × 1');
    await press(']', ']');
    await text('#tab_panel').toContain('3 were not kept');
    await text('.frames .client pre').toBe('{\n  "a": "<b>"\n}');
    await text('.frames .upstream pre').toContain('00 01');
  });

  test('resend, edit and resend', async () => {
    await press('j', 'r');
    await text('.note').toContain('Sent again: 200');
    await text('.facets').toContain('sent again from 3');
    await press('e');
    await page.fill('dialog [name=target]', '/changed');
    await page.fill('dialog [name=headers]', 'nonsense');
    await page.locator('dialog .primary').click();
    await text('dialog [role=alert]').toContain('not a header field');
    await page.fill('dialog [name=headers]', 'X-A: 1');
    await page.locator('dialog .primary').click();
    await expect.poll(() => page.locator('dialog').count()).toBe(0);
    expect(server.asked.get('POST exchanges/4/resend')).toEqual([
      { edit: { method: 'POST', target: '/changed', headers: ['X-A', '1'], body: { text: '' } } },
    ]);
  });

  test.each([
    ['u', 'curl'],
    ['h', 'har'],
    ['s', 'case'],
  ])('%s copies as %s', async (key, as) => {
    await press('j');
    await text('.detail h2').toContain('POST');
    await press(key);
    await text('dialog pre').toContain(`${as} of 3 <b>`);
    await text('dialog .notes').toContain('redacted');
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(`${as} of 3 <b>\n`);
    await press('Escape');
    await expect.poll(() => page.locator('dialog').count()).toBe(0);
  });

  test('a draft is decided for this request and the last 500, formatted, and written only when asked', async () => {
    const before = {
      verdict: 'stop',
      by: 'ip_restriction',
      code: 'ip.denied',
      status: 403,
      backend: null,
      place: PLACE,
    } as const;
    const after = {
      verdict: 'pass',
      by: 'upstream',
      code: 'upstream.answered',
      status: 200,
      backend: 'app',
      place: null,
    } as const;
    const one = {
      seq: 2,
      before,
      after,
      differences: ['The target differs.'],
      unknown: [],
      explanation: null,
    };
    const counts = { looked: 500, alike: 483, changed: 17, unknown: 0 };
    server.draft = {
      diagnostics: [],
      decided: true,
      one,
      changed: [one],
      counts,
      unknownFor: [{ cause: 'counters', count: 3 }],
      tookMs: 20,
    } satisfies DraftAnswer;
    await press('j', 'j', 'd');
    await text('.verdicts .status').toContain('17 of the last 500 requests would change');
    await text('.verdicts').toContain('counters, whose earlier requests are not kept or had no answer (3)');
    expect(await page.locator('.side').allTextContents()).toEqual([
      expect.stringContaining('403 is stopped'),
      expect.stringContaining('200 passes → app'),
    ]);
    await text('.changed tbody').toContain('GET /admin');
    expect(server.asked.get('POST draft')!.at(-1)).toEqual({ texts: {}, seq: 2, last: 500, explain: false });
    await page.locator('.cm-content').click();
    await page.keyboard.press('Control+Home');
    await page.keyboard.type('# new\n');
    await expect
      .poll(() => server.asked.get('POST draft')!.at(-1))
      .toEqual({
        texts: { 'edge.yaml': expect.stringMatching(/^# new\nip_policies/) },
        seq: 2,
        last: 500,
        explain: false,
      });
    await page.locator('.draft > header button').nth(1).click();
    await text('.cm-content').toContain('# formatted');
    expect(server.asked.get('PUT files')).toBeUndefined();
    await page.locator('.draft > header .primary').click();
    await text('dialog .changes .added').toContain('# formatted');
    await page.locator('dialog .primary').click();
    await expect.poll(() => server.files[0]!.text).toMatch(/^# formatted\n# new\n/);
    await expect.poll(() => page.locator('dialog').count()).toBe(0);
  });

  test('findings of a draft are listed and marked; a file that changed meanwhile is not written', async () => {
    const range = { start: { line: 7, column: 3 }, end: { line: 7, column: 6 } };
    const finding = {
      file: 'edge.yaml',
      range,
      severity: 'error',
      code: 'edge.unknown_key',
      message: 'unknown key',
    } as const;
    const diagnostics = [{ ...finding, pointer: '/x', hint: null, notes: [], basis: null, fix: null }];
    server.draft = { ...server.draft, diagnostics, decided: false };
    await press('d');
    await text('.verdicts .findings').toContain('unknown key');
    await text('.verdicts .status').toContain('nothing was decided');
    await expect.poll(() => page.locator('.cm-lintRange-error').count()).toBeGreaterThan(0);
    await page.locator('.cm-content').click();
    await page.keyboard.type('x');
    server.files[0] = { ...server.files[0]!, hash: 'another' };
    await page.locator('.draft > header .primary').click();
    await text('dialog .failure').toContain('an error');
    await page.locator('dialog .primary').click();
    await text('.note').toContain('was changed on disk meanwhile');
    expect(pages.complaints.splice(0).every((each) => each.includes('409'))).toBe(true);
  });

  test('the overview: graph, stops that filter, states, upstreams, plots, revisions, coverage', async () => {
    await press('o');
    await text('.graph').toContain('9,120');
    expect(await page.locator('.links path').count()).toBe(4);
    await expect.poll(() => page.locator('.plot canvas').count()).toBe(2);
    await text('.upstreams').toContain('ECONNREFUSED');
    expect(await page.locator('.strip span').count()).toBe(3);
    await page.locator('.revisions .place').first().click();
    await text('.revisions .changes').toContain('+ a: 1');
    await page.locator('.card form button').click();
    await text('.missed').toContain('the rule never decided');
    await page.locator('.card [role=status] .place').click();
    await expect.poll(() => page.locator('.covered-missed').count()).toBe(1);
    await text('.covered-hit').toContain('203.0.113.0/24');
    await press('Escape', 'o');
    await page.locator('.bars .place').first().click();
    await expect.poll(() => pathsOf(page)).toEqual(['/admin']);
  });

  test('plots show seconds that no line joins, as with little traffic', async () => {
    server.overview = { ...OVERVIEW, seconds: [0, 10, 20].map(secondOf) };
    await press('o');
    // Of the latency, whose lines have gaps: each of 3 lines has a point in each of 3 seconds.
    const colored = `(() => {
      const canvas = document.querySelectorAll('.plot canvas')[1];
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      let colored = 0;
      for (let at = 0; at < data.length; at += 4) {
        const [red, green, blue, alpha] = data.slice(at, at + 4);
        if (alpha > 200 && Math.max(red, green, blue) - Math.min(red, green, blue) > 80) colored++;
      }
      return colored;
    })()`;
    await expect.poll(() => page.locator('.plot canvas').count()).toBe(2);
    await expect.poll(() => page.evaluate(colored)).toBeGreaterThan(60);
  });

  test('a link to an exchange opens it; without a token nothing is asked for twice', async () => {
    const linked = await pages.open(`${server.url}&exchange=2`);
    await expect.poll(() => linked.locator('.detail h2').textContent()).toContain('/admin');
    const refused = await pages.open(server.url).then(async (other) => {
      await other.evaluate('localStorage.clear()');
      await other.goto('about:blank');
      await other.goto(`${server.url.replace(/#.*/, '')}#token=wrong`);
      return other;
    });
    await expect.poll(() => refused.locator('main h2').textContent()).toContain('not allowed');
    expect(pages.complaints.splice(0).every((each) => each.includes('401'))).toBe(true);
  });

  describe.each([1280, 390, 360])('at %i px', (width) => {
    test.each(['list', 'details', 'draft', 'overview'])('%s is accessible and fits', async (what) => {
      const other = await pages.open(server.url, true);
      await other.setViewportSize({ width, height: 800 });
      await expect.poll(() => pathsOf(other)).toHaveLength(3);
      if (what === 'list') await other.keyboard.press('?');
      if (what === 'details') {
        await other.keyboard.press('j');
        await expect.poll(() => other.locator('.steps li').count()).toBeGreaterThan(0);
      }
      if (what === 'draft') {
        await other.keyboard.press('d');
        await expect.poll(() => other.locator('.cm-content').count()).toBe(1);
      }
      if (what === 'overview') {
        await other.keyboard.press('o');
        await expect.poll(() => other.locator('.plot canvas').count()).toBe(2);
      }
      for (const colorScheme of ['light', 'dark']) {
        await other.emulateMedia({ colorScheme });
        await expectAccessible(other);
      }
      await expectFits(other, width);
    });
  });
});
