import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ensureBuilt } from '../built.ts';
import { type Page, expectAccessible, hasChromiumFor } from '../chromium.ts';
import { folderWith } from '../folder.ts';
import { type Running, startProgram } from '../running.ts';
import { type OpenedPages, openPages, pathsOf } from './opened_page.ts';

const MAIN = join(import.meta.dirname, '../../dist/lib/main.cjs');

const edgeText = (port: number) => `ip_policies:
  office:
    rules:
      - { cidr: 203.0.113.0/24, action: allow }
  elsewhere:
    rules:
      - { cidr: 192.0.2.0/24, action: allow }
backends:
  app: { static: { address: 'localhost:${port}' } }
  gone: { static: { address: '127.0.0.1:1' } }
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes:
        - match_type: path_prefix
          match: /
          backend: { backend_id: app }
          traffic_policy:
            on_http_request:
              - name: mark items
                expressions: ["req.url.path.startsWith('/items')"]
                actions:
                  - type: add-headers
                    config: { headers: { x-marked: 'yes' } }
        - match_type: path_prefix
          match: /locked
          ip_restriction: { ip_policy_ids: [elsewhere] }
          backend: { backend_id: app }
        - { match_type: path_prefix, match: /gone, backend: { backend_id: gone } }
        - match_type: path_prefix
          match: /denied
          backend: { backend_id: app }
          traffic_policy: { on_http_request: [{ actions: [{ type: deny }] }] }
        - match_type: path_prefix
          match: /admin
          ip_restriction: { ip_policy_ids: [office] }
          backend: { backend_id: app }
`;

/** The command as a user starts it, before an upstream of this test, with its page in Chromium. */
describe.skipIf(!hasChromiumFor('the inspector of `edgeproof dev`'))('edgeproof dev', () => {
  const folder = folderWith();
  const upstream = createServer((asked, response) => {
    if (asked.url === '/events') {
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end('event: a\ndata: {"x":1}\n\ndata: two\n\n');
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(asked.headers));
  });
  let pages: OpenedPages;
  let page: Page;
  let edgeUrl = '';
  let pageUrl = '';
  let dev: Running;

  beforeAll(async () => {
    await ensureBuilt();
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    writeFileSync(join(folder, 'edge.yaml'), edgeText((upstream.address() as AddressInfo).port));
    const args = [MAIN, 'dev', 'edge.yaml', '--port', '0', '--inspector', '0', '--no-tls'];
    dev = startProgram(process.execPath, args, folder);
    [, edgeUrl = '', pageUrl = ''] = await dev.waitFor(
      /ready in \d+ ms +(http:\S+)[^]*?(http:\S+#token=\w+)/,
    );
    pages = await openPages();
  }, 240_000);
  beforeEach(async () => void (page ??= await pages.open(pageUrl)));
  afterEach(() => expect(pages.complaints.splice(0)).toEqual([]));
  afterAll(async () => {
    await pages.close();
    await dev.stop('SIGTERM');
    upstream.close();
  });

  /** The body of an answer; a client may send any target and any field. */
  function send(
    path: string,
    headers: Readonly<Record<string, string>> = {},
    body: string | Buffer = '',
  ): Promise<string> {
    return new Promise((resolve, reject) => {
      const method = body === '' ? 'GET' : 'POST';
      const options = { path, method, headers: { host: 'shop.test', ...headers } };
      const sent = request(edgeUrl, options, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => void (text += piece));
        response.on('end', () => resolve(text));
      });
      sent.on('error', reject).end(body);
    });
  }
  // oxlint-disable-next-line vitest/require-awaited-expect-poll -- each caller awaits it
  const text = (selector: string) => expect.poll(() => page.locator(selector).first().textContent());
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };

  test('a request appears, with what its upstream saw', async () => {
    expect(await send('/items/1', { 'x-own': 'a' })).toContain('"x-marked":"yes"');
    await expect.poll(() => pathsOf(page)).toEqual(['/items/1']);
    await press('j');
    await text('.steps .deciding').toContain('upstream');
    await press(']', ']', ']');
    await expect
      .poll(() => page.locator('.fields .added').allTextContents())
      .toContain('+ added: x-markedyes');
    await text('.body pre').toContain('"x-own": "a"');
  });

  test('a case is added to a scenario file, and a gRPC message has its fields', async () => {
    // {1: 150, 2: "hi"}; 0x96 is not UTF-8, so it is sent as bytes.
    const fields = Buffer.from('08960112026869', 'hex');
    const message = Buffer.concat([Buffer.of(0, 0, 0, 0, fields.length), fields]);
    await send('/echo.Service/Call', { 'content-type': 'application/grpc' }, message);
    await expect.poll(() => pathsOf(page)).toContain('/echo.Service/Call');
    await press('Escape', 'g');
    await text('.detail h2').toContain('/echo.Service/Call');
    await page.locator('[role=tab]:has-text("Messages")').click();
    await text('.frames pre').toContain('1: 150');
    await press('s');
    await page.fill('dialog [name=file]', '../elsewhere.scenario.yaml');
    await page.locator('dialog form.line button').click();
    await text('dialog [role=status]').toContain('only files of the project');
    // What the browser itself writes about the refusal.
    expect(pages.complaints.splice(0)).toEqual([expect.stringContaining('status of 403')]);
    for (const said of ['Written', 'Added']) {
      await page.fill('dialog [name=file]', 'live.scenario.yaml');
      await page.locator('dialog form.line button').click();
      await text('dialog [role=status]').toContain(`${said}: live.scenario.yaml:`);
    }
    const written = readFileSync(join(folder, 'live.scenario.yaml'), 'utf8');
    expect(written.match(/- name: .*Call/g)).toHaveLength(2);
    await press('Escape');
    await expect.poll(() => page.locator('dialog').count()).toBe(0);
  });

  test('a stop names the line of the file, which opens in the editor', async () => {
    await send('/admin');
    await expect.poll(() => pathsOf(page)).toContain('/admin');
    await press('Escape', 'g');
    await page.locator('[role=tab]').first().click();
    await text('.steps .deciding .source').toContain('ip_policy_ids');
    await page.locator('.steps .deciding .place').first().click();
    await text('.cm-activeLine').toContain('ip_policy_ids');
    await page.locator('.draft > header .back').click();
    // A link without the token, as error pages have it.
    const [id] = /\d+/.exec((await page.locator('.row[aria-selected=true]').getAttribute('id'))!)!;
    await page.keyboard.press('Escape');
    await page.evaluate(`location.hash = '#exchange=${id}'`);
    await text('.detail h2').toContain('/admin');
  });

  test('server-sent events are messages; resend opens the new exchange', async () => {
    await send('/events');
    await expect.poll(() => pathsOf(page)).toContain('/events');
    await press('g');
    await text('.detail h2').toContain('/events');
    await page.locator('[role=tab]').nth(4).click();
    await text('.frames pre').toBe('{\n  "x": 1\n}');
    await page.locator('[role=tab]').first().click();
    const before = (await pathsOf(page)).length;
    await press('r');
    await text('.note').toContain('Sent again: 200');
    await expect.poll(() => pathsOf(page)).toHaveLength(before + 1);
    await text('.facets').toContain('sent again from');
  });

  test('an expression filters what comes', async () => {
    await press('Escape', 'x');
    await page.keyboard.type('ev.http.response.status_code == 403');
    await expect.poll(() => pathsOf(page)).toEqual(['/admin']);
    await send('/admin/again');
    await send('/items/2');
    await expect.poll(() => pathsOf(page)).toEqual(['/admin/again', '/admin']);
    await page.fill('#filter', 'ev.http.response.nope');
    await text('.located').toContain('nope');
    await page.locator('.mode').click();
    await press('Escape');
    await expect.poll(() => pathsOf(page)).toContain('/items/2');
  });

  test('hostile clients: what they send is text', async () => {
    const markup = '<img src=x onerror=window.ran=1><script>window.ran=1</script>';
    for (let index = 0; index < 200; index++)
      await send(
        `/hostile?${encodeURIComponent(`${index}${markup}`)}%00%E2%80%AE`,
        { 'x-payload': markup },
        `${markup}\u0000`,
      );
    await expect.poll(() => pathsOf(page).then((paths) => paths[0] ?? '')).toContain('/hostile?199');
    await press('g', ']', ']');
    await text('.detail h2').toContain('/hostile');
    expect(await page.evaluate('window.ran')).toBeUndefined();
    expect(await page.evaluate("document.querySelectorAll('#page img, #page script').length")).toBe(0);
  });

  test('a draft is decided for the kept requests, and written when asked: a revision with its difference', async () => {
    await page.fill('#filter', 'admin');
    await expect.poll(() => pathsOf(page)).toEqual(['/admin/again', '/admin']);
    await press('Escape', 'g', 'd');
    await text('.verdicts .status').toContain('would change');
    await page.locator('.cm-content').click();
    await press('Control+Home', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'End', 'Enter');
    await page.keyboard.type('- { cidr: 127.0.0.0/8, action: allow }');
    await expect
      .poll(() => page.locator('.side').allTextContents())
      .toEqual([expect.stringContaining('403 is stopped'), expect.stringContaining('passes → app')]);
    await text('.changed tbody').toContain('/admin/again');
    expect(await page.locator('.verdicts .steps').count()).toBe(0);
    await page.locator('.verdicts summary').first().click();
    await text('.verdicts .steps').toContain('ip_restriction');
    await page.locator('.draft > header .primary').click();
    await text('dialog .changes .added').toContain('127.0.0.0/8');
    await page.locator('dialog .primary').click();
    await expect.poll(() => readFileSync(join(folder, 'edge.yaml'), 'utf8')).toContain('127.0.0.0/8');
    await expect.poll(() => page.locator('.edge').textContent(), { timeout: 20_000 }).toContain('rev 2');
    await page.locator('.draft > header .back').click();
    expect(await send('/admin')).toContain('host');
    await press('o');
    await text('.graph').toContain('/admin');
    await text('.revisions').toContain('Revision 2');
    await page.locator('.revisions .place').first().click();
    await text('.revisions .changes .added').toContain('127.0.0.0/8');
  });

  test('an error page says what decided, and its link opens the request in the inspector', async () => {
    const own = await pages.open(pageUrl, true);
    for (const [path, ...told] of [
      ['/locked', 'edge.yaml:'],
      ['/denied', 'traffic_policy.denied'],
      ['/gone', 'ECONNREFUSED', 'edge.yaml:'],
    ] as const) {
      await own.goto(`${edgeUrl}${path}`);
      for (const each of told) await expect.poll(() => own.locator('dl').textContent()).toContain(each);
      for (const colorScheme of ['light', 'dark']) {
        await own.emulateMedia({ colorScheme });
        await expectAccessible(own);
      }
      await own.locator('a').click();
      await expect.poll(() => own.locator('.detail h2').first().textContent()).toContain(path);
    }
    // Chromium itself reports each answer with an error status.
    const isOwn = (told: string): boolean => !told.startsWith('Failed to load resource');
    expect(pages.complaints.splice(0).filter(isOwn)).toEqual([]);
  });

  test('has no violation of accessibility', async () => {
    const other = await pages.open(pageUrl, true);
    await expect.poll(() => pathsOf(other)).toContain('/admin');
    await other.keyboard.press('g');
    await expect.poll(() => other.locator('.steps li').count()).toBeGreaterThan(0);
    await expectAccessible(other);
  });
});
