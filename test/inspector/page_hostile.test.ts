import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ExchangeDetail } from '../../src/inspector/wire_detail.ts';
import { ensureBuilt } from '../built.ts';
import { type Page, expectFits, hasChromiumFor } from '../chromium.ts';
import { detailOf, rowOf } from './exchanges.ts';
import { type OpenedPages, openPages, pathsOf } from './opened_page.ts';
import { type WireServer, startWireServer } from './wire_server.ts';

/** Sets `window.ran` where it runs. */
const RUN = 'window.ran=(window.ran||0)+1';
const MARKUP = [
  `<script>${RUN}</script>`,
  `<img src=x onerror="${RUN}">`,
  `<svg onload="${RUN}"><rect/></svg>`,
  `"><iframe srcdoc="<script>parent.${RUN}</script>">`,
  `<a href="javascript:${RUN}">x</a>`,
  `</pre></td></table><style>*{display:none}</style>`,
  `<details open ontoggle="${RUN}">`,
  `<math><mtext></table><mglyph><style><!--</style><img src=x onerror=${RUN}>`,
  `{{constructor.constructor('${RUN}')()}}`,
  `javascript:${RUN}`,
  `<base href="https://evil.test/">`,
  `<meta http-equiv=refresh content="0;url=https://evil.test/">`,
  `<form action=https://evil.test><input name=a autofocus onfocus="${RUN}">`,
  `__proto__`,
  `constructor`,
];
const TEXTS = [
  '\u202e\u2066txt.exe',
  '\u001b[2J\u001b[31mred\u001b]0;title\u0007',
  '\u0000\u0008\u007f',
  'Z\u0351\u032b\u0343'.repeat(200),
  '\ud800\udfff\ufffe',
  '﷽'.repeat(300),
  'W'.repeat(100_000),
  ' '.repeat(1000),
  '\r\n\r\nHTTP/1.1 200 OK',
  '👩‍👩‍👧‍👦'.repeat(500),
];
const BODIES: readonly (readonly [string, string])[] = [
  ['application/json', '['.repeat(30_000)],
  ['application/json', '{"a":'.repeat(20_000)],
  ['application/json', `{"__proto__":{"x":1},"s":"<script>${RUN}</script>"}`],
  ['text/html', `<script>${RUN}</script>`],
  ['image/svg+xml', `<svg xmlns="http://www.w3.org/2000/svg" onload="${RUN}"/>`],
  ['image/png', `<script>${RUN}</script>`],
  ['application/x-www-form-urlencoded', '&'.repeat(50_000)],
  ['application/x-www-form-urlencoded', `a=<img src=x onerror=${RUN}>`],
  ['multipart/form-data; boundary=x', '--x\r\n'.repeat(5000)],
  [
    'multipart/form-data; boundary=x',
    `--x\r\nContent-Disposition: form-data; name="<b onclick=${RUN}>"\r\n\r\n<i>\r\n--x--`,
  ],
];

/** 200 exchanges, each with a payload in every place that traffic reaches. */
function hostileDetails(): ExchangeDetail[] {
  const payloads = [...MARKUP, ...TEXTS];
  return Array.from({ length: 200 }, (_, index) => {
    const payload = payloads[index % payloads.length]!;
    const [type, content] = BODIES[index % BODIES.length]!;
    const part = payload.slice(0, 2000);
    const row = rowOf(index + 1, {
      target: `/${part}`,
      method: part.slice(0, 40),
      host: part,
      by: index % 3 === 0 ? part.slice(0, 60) : 'upstream',
      code: part.slice(0, 60),
      backend: part,
      tunnel: part,
      clientIp: part,
      mediaType: part,
    });
    const plain = detailOf(row);
    const headers = ['Content-Type', type, 'X-Payload', payload, part, part];
    const binary = { bytes: 6, base64: Buffer.from([0xff, 0xfe, 0x80, 0xc3, 0x28, 0]).toString('base64') };
    const body = index % 4 === 3 ? binary : { bytes: content.length, text: content };
    const message = { status: 200, headers, body };
    const list = [{ from: 'client', after: 1, type: part, bytes: 9, text: payload }] as const;
    return {
      ...plain,
      exchange: {
        ...plain.exchange,
        request: { ...plain.exchange.request, target: row.target, headers, body },
        forwards: [
          {
            ...plain.exchange.forwards[0]!,
            backend: part,
            address: part,
            headers,
            response: message,
            failure: payload,
          },
        ],
        response: message,
      },
      identity: { by: 'oauth', id: part, name: part, email: part },
      connection: { ...plain.connection, serverName: part },
      frames: { kind: 'websocket', list, dropped: 0 },
    };
  });
}

describe.skipIf(!hasChromiumFor('hostile traffic on the inspector’s page'))('in Chromium', () => {
  let pages: OpenedPages;
  let server: WireServer;
  let page: Page;
  beforeAll(async () => {
    await ensureBuilt();
    pages = await openPages();
  }, 180_000);
  afterAll(() => pages.close());
  beforeEach(async () => {
    server = await startWireServer();
    pages.requests.splice(0);
    page = await pages.open(server.url);
  });
  afterEach(async () => {
    await pages.closePages();
    await server.stop();
    expect(pages.complaints.splice(0)).toEqual([]);
  });

  test.each([1280, 390])(
    '200 hostile exchanges neither run nor break the layout at %i px',
    async (width) => {
      await page.setViewportSize({ width, height: 800 });
      const details = hostileDetails();
      for (const detail of details) server.details.set(detail.row.seq, detail);
      server.add(details.map(({ row }) => row));
      await expect.poll(() => pathsOf(page).then((paths) => paths.length)).toBeGreaterThan(10);
      await expectFits(page, width);
      // Each exchange, and in turn each of its parts.
      const broken = (await page.evaluate(`(async () => {
      const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      const press = (key) => document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
      const broken = [];
      for (let index = 0; index < 200; index++) {
        press('j');
        for (let tries = 0; tries < 500 && document.querySelector('[role=tab]') === null; tries++) await frame();
        for (let part = 0; part < (index < 50 ? 7 : 2); part++) {
          press(']');
          await frame();
          if (document.documentElement.scrollWidth > innerWidth) broken.push([index, part, 'too wide']);
          const pane = document.querySelector('main > .detail').getBoundingClientRect();
          if (pane.right > innerWidth + 1 || pane.width < 100) broken.push([index, part, 'moved']);
        }
      }
      return broken;
    })()`)) as unknown[];
      expect(broken).toEqual([]);
      expect(await page.evaluate('window.ran')).toBeUndefined();
      expect(
        await page.evaluate(
          "document.querySelectorAll('#page script, #page iframe, #page style, #page form[action]').length",
        ),
      ).toBe(0);
      const own = new URL(server.url).origin;
      expect(pages.requests.filter((url) => !url.startsWith(own) && !/^(?:blob|data):/.test(url))).toEqual(
        [],
      );
    },
    120_000,
  );

  test('direction marks and control characters are written out', async () => {
    server.add([rowOf(1, { target: '/\u202egnp.exe\u001b[31m' })]);
    await expect.poll(() => pathsOf(page)).toEqual([String.raw`/\u{202e}gnp.exe\u{1b}[31m`]);
  });

  test('10 MB of header rows: a bounded number is in the page', async () => {
    const row = rowOf(1);
    const plain = detailOf(row);
    const headers = Array.from({ length: 200_000 }, (_, index) => [`x-${index}`, 'v'.repeat(45)]).flat();
    const request = { ...plain.exchange.request, headers };
    server.details.set(1, { ...plain, exchange: { ...plain.exchange, request } });
    server.add([row]);
    await expect.poll(() => pathsOf(page)).toHaveLength(1);
    await page.keyboard.press('j');
    await expect.poll(() => page.locator('[role=tab]').count()).toBeGreaterThan(3);
    await page.keyboard.press(']');
    await expect.poll(() => page.locator('.fields tr').count()).toBe(100);
    await expect.poll(() => page.locator('#tab_panel').innerText()).toContain('199,900 further lines');
    await page.locator('#tab_panel > button').click();
    await expect.poll(() => page.locator('.fields tr').count()).toBe(1100);
  });

  test('5,000 rows a second: all are counted, few are in the page, and it answers', async () => {
    const batches = 60;
    await page.evaluate(`(() => {
      window.longest = 0;
      let last = performance.now();
      const look = () => {
        const now = performance.now();
        window.longest = Math.max(window.longest, now - last);
        last = now;
        requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    })()`);
    for (let batch = 0; batch < batches; batch++) {
      server.send({
        type: 'rows',
        rows: Array.from({ length: 500 }, (_, index) => rowOf(batch * 500 + index + 1)),
      });
      // The pace of the feed: ten batches a second.
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await expect.poll(() => pathsOf(page).then(([first]) => first)).toBe('/items/30000');
    await expect.poll(() => page.locator('.counts').innerText()).toMatch(/(?:20|21|22),\d{3} rows/);
    await expect.poll(() => page.locator('.counts').innerText()).toMatch(/(?:8|9|10),\d{3} left the page/);
    expect(await page.locator('.row').count()).toBeLessThan(60);
    // A person sees it moving: no pause is longer than two seconds, even on a busy machine.
    expect(await page.evaluate('window.longest')).toBeLessThan(2000);
    await page.fill('#filter', '/items/29999');
    await expect.poll(() => pathsOf(page)).toEqual(['/items/29999']);
  });

  test('a list that is scrolled down does not move, and says what is new', async () => {
    server.send({ type: 'rows', rows: Array.from({ length: 500 }, (_, index) => rowOf(index + 1)) });
    await expect.poll(() => pathsOf(page).then(([first]) => first)).toBe('/items/500');
    await page.evaluate("document.querySelector('.rows').scrollTop = 3000");
    await expect.poll(() => pathsOf(page).then((paths) => paths.includes('/items/395'))).toBe(true);
    const before = await pathsOf(page);
    server.send({ type: 'rows', rows: [rowOf(501), rowOf(502)] });
    await expect.poll(() => page.locator('.new_rows').count()).toBe(1);
    expect(await page.locator('.new_rows').innerText()).toContain('2 new');
    expect(await pathsOf(page)).toEqual(before);
    await page.locator('.new_rows').click();
    await expect.poll(() => pathsOf(page).then(([first]) => first)).toBe('/items/502');
  });
});
