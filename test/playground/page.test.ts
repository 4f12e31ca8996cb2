import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ensureBuilt } from '../built.ts';
import {
  type Browser,
  type Page,
  expectAccessible,
  expectFits,
  hasChromiumFor,
  launchChromium,
} from '../chromium.ts';
import { ended } from '../program.ts';

const MAIN = join(import.meta.dirname, '../../dist/lib/main.cjs');
const hasChromium = hasChromiumFor('the playground');

let url: string;
let stop: () => Promise<void>;

beforeAll(async () => {
  await ensureBuilt();
  const child = spawn(process.execPath, [MAIN, 'playground', '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  url = /http:\S+/.exec(line)![0];
  stop = async () => {
    child.kill('SIGTERM');
    await once(child, 'exit');
  };
}, 180_000);

afterAll(() => stop());

function statusOf(
  path: string,
  headers: Readonly<Record<string, string>> = {},
  method = 'GET',
): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, url), { headers, method }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    sent.on('error', reject).end();
  });
}

test('only its files are served, to this machine only', async () => {
  expect(await statusOf('/')).toBe(200);
  expect(await statusOf('/page.js')).toBe(200);
  expect(await statusOf('/..%2f..%2fpackage.json')).toBe(404);
  expect(await statusOf('/page.js', {}, 'POST')).toBe(405);
  expect(await statusOf('/', { host: 'evil.test' })).toBe(421);
});

test('--out writes what is served', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'playground-'));
  try {
    const { code, out } = await ended(
      process.execPath,
      [MAIN, 'playground', '--out', join(folder, 'site')],
      folder,
    );
    expect([code, out]).toEqual([0, expect.stringContaining('wrote the playground to')]);
    const page = readFileSync(join(folder, 'site/index.html'), 'utf8');
    expect(page).toBe(await (await fetch(url)).text());
    for (const name of ['LICENSES.txt', 'LICENSES_of_engine.txt'])
      expect(readFileSync(join(folder, 'site', name), 'utf8')).toMatch(/(?:preact|re2js) \d/);
    for (const [, file] of page.matchAll(/(?:src|href)="([^":]+)"/g))
      expect(existsSync(join(folder, 'site', file!))).toBe(true);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the shell stays within 45 kB', async () => {
  const sizes = await Promise.all(
    ['', 'page.js', 'page.css'].map(async (name) => gzipSync(await (await fetch(url + name)).text()).length),
  );
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(45_000);
});

test('what the engine loads before its first answer stays within 268 kB; its parts come later', async () => {
  const sizes = new Map<string, number>();
  const load = async (name: string): Promise<void> => {
    if (sizes.has(name)) return;
    sizes.set(name, 0);
    const code = await (await fetch(url + name)).text();
    sizes.set(name, gzipSync(code, { level: 9 }).length);
    const imported = Array.from(
      code.matchAll(/(?:from|import)\s*["']\.\/([^"']+)["']/g),
      ([, file]) => file!,
    );
    await Promise.all(imported.map(load));
  };
  await load('worker.js');
  expect(sizes.size).toBeGreaterThan(3);
  expect([...sizes.values()].reduce((sum, size) => sum + size, 0)).toBeLessThan(268_000);
});

describe.skipIf(!hasChromium)('in Chromium', () => {
  let browser: Browser;
  const complaints: string[] = [];
  const requests: string[] = [];

  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  async function opened(at = url, bypassCSP = false): Promise<Page> {
    const page = await (await browser.newContext({ bypassCSP })).newPage();
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push((error as unknown as Error).message));
    page.on('request', (made) => requests.push(made.url()));
    await page.goto(at);
    await expect.poll(() => page.locator('.case').count()).toBeGreaterThan(0);
    await expect.poll(() => page.locator('.editor').count()).toBe(2);
    await expect.poll(() => page.locator('html[data-engine=whole]').count()).toBe(1);
    return page;
  }
  const codes = (page: Page) => page.locator('.case .code').allTextContents();

  test('decides, explains and adds a request, without a request to any server', async () => {
    const page = await opened();
    const loaded = requests.length;
    expect(await codes(page)).toEqual(['200', '403', '403']);
    await page.locator('.case:nth-child(2) > button').click();
    await expect.poll(() => page.locator('.steps .deciding').textContent()).toContain('edge.yaml:5');
    await page.fill('#request', '/admin');
    await page.fill('input[name=ip]', '203.0.113.9');
    await page.locator('form button').click();
    await expect.poll(() => codes(page)).toEqual(['200', '403', '403', '200']);
    await page.selectOption('select', { index: 1 });
    await expect.poll(() => codes(page)).toEqual(['200', '400', '429']);
    await page.locator('.case:nth-child(2) > button').click();
    await expect
      .poll(() => page.locator('.steps').textContent())
      .toContain("does not apply: req.url.path.startsWith('/api/') is false (req.url.path is '/')");
    await page.locator('.explained > .values > summary').click();
    expect(await page.locator('.explained > .values tr').allTextContents()).toContain(
      "\u00a0\u00a0req.url.path'/'",
    );
    expect(requests.slice(loaded)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test('a link has the whole project', async () => {
    const page = await opened();
    await page.selectOption('select', { index: 1 });
    await page.fill('#request', '<img src=x onerror=alert(1)>/../\u202e');
    await page.locator('form button').click();
    await page.fill('#request', 'curl https://shop.test/?<script>alert(1)</script>');
    await page.locator('form button').click();
    await expect.poll(() => codes(page)).toHaveLength(4);
    await page.locator('header > button').first().click();
    await expect.poll(() => page.url()).toContain('#');
    const other = await opened(page.url());
    await expect.poll(() => codes(other)).toEqual(await codes(page));
    // A link that is opened in a page that is open.
    await other.goto(`${url}#${new URL(page.url()).hash.slice(1, -20)}`);
    await expect.poll(() => other.locator('.note').textContent()).toContain('no whole project');
    await other.selectOption('select', { index: 0 });
    await expect.poll(() => codes(other)).toHaveLength(3);
    await other.goto(page.url());
    await expect.poll(() => codes(other)).toEqual(await codes(page));
    expect(await other.locator('.note').textContent()).toBe('');
    expect(await other.locator('#page img, #page script').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test('a command line of several lines is added as it is pasted', async () => {
    const page = await opened();
    const line = "curl 'https://shop.test/admin' \\\n  --data-binary '{\n  \"a\": 1\n}'";
    await page.fill('#request', line);
    await page.locator('#request').press('Enter');
    await expect.poll(() => codes(page)).toEqual(['200', '403', '403', '200']);
    await expect.poll(() => page.locator('#request').inputValue()).toBe('');
    await page.locator('.case:nth-child(4) > button').click();
    await expect.poll(() => page.locator('.case:nth-child(4)').textContent()).toContain('POST');
    expect(complaints).toEqual([]);
  });

  test.each([1280, 390])('has no violation of accessibility at %i px', async (width) => {
    const page = await opened(url, true);
    await page.setViewportSize({ width, height: 900 });
    await page.selectOption('select', { index: 1 });
    await expect.poll(() => codes(page)).toEqual(['200', '400', '429']);
    await page.locator('.case:nth-child(2) > button').click();
    await page.locator('.explained > .values > summary').click();
    await page.keyboard.press('?');
    await expectAccessible(page);
    await expectFits(page, width);
  });
});
