import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
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
import { edgeproof } from '../cli/command.ts';
import { reportOf } from './report_data.ts';

const OUTAGE = fileURLToPath(new URL('../../fixtures/scenarios/outage.scenario.yaml', import.meta.url));

const edge = (office: string): string => `
ip_policies:
  office: { rules: [{ cidr: ${office}, action: allow }] }
backends:
  app: { static: { address: '127.0.0.1:3000' } }
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes:
        - match_type: path_prefix
          match: /admin
          ip_restriction: { ip_policy_ids: [office] }
          backend: { backend_id: app }
        - match_type: path_prefix
          match: /
          traffic_policy:
            on_http_request:
              - name: no bots
                expressions: ["hasReqHeader('x-bot')"]
                actions: [{ type: deny, config: { status_code: 403 } }]
          backend: { backend_id: app }
`;
const CASES = `edge: ./edge.yaml
cases:
  - { name: home, request: 'https://shop.test/', expect: { status: 200 } }
  - { name: admin from outside, tags: [security], request: { url: 'https://shop.test/admin', ip: 198.51.100.1 }, expect: { status: 403 } }
  - { name: '<img src=x onerror=alert(1)></script><script>alert(2)</script>', request: 'https://shop.test/%3Cscript%3E', expect: { status: 200 } }
  - { name: wrong, request: { url: 'https://shop.test/admin', ip: 198.51.100.1 }, expect: { status: 200 } }
  - { name: later, skip: not decided yet, request: 'https://shop.test/', expect: { status: 200 } }
`;

let folder: string;
const made = (name: string): string => join(folder, `${name}.html`);

async function run(...args: readonly string[]): Promise<string> {
  return (await edgeproof(args, folder)).stdout;
}

beforeAll(async () => {
  await ensureBuilt();
  folder = mkdtempSync(join(tmpdir(), 'edgeproof-reports-'));
  writeFileSync(join(folder, 'edge.yaml'), edge('203.0.113.0/24'));
  writeFileSync(join(folder, 'next.yaml'), edge('198.51.100.0/24'));
  writeFileSync(join(folder, 'a.scenario.yaml'), CASES);
  await run('test', 'a.scenario.yaml', '-r', `html=${made('test')}`, '--events', 'log.ndjson');
  await run('cover', 'a.scenario.yaml', '--no-offer', '-r', `html=${made('cover')}`);
  await run('sim', OUTAGE, '--plot', made('sim'));
  const short = ['--duration', '5ms', '--warm-up', '10ms', '--quiet'];
  await run('bench', 'edge.yaml', ...short, '-r', `html=${made('bench')}`);
  const compared = ['-e', 'next.yaml', '--against', 'edge.yaml', '-r', 'html'];
  writeFileSync(made('replay'), await run('replay', 'log.ndjson', ...compared));
  writeFileSync(made('diff'), await run('diff', 'edge.yaml', 'next.yaml', '-r', 'html'));
  const passing = CASES.split('\n').filter((line) => !line.includes('name: wrong'));
  writeFileSync(join(folder, 'b.scenario.yaml'), passing.join('\n'));
  writeFileSync(made('mutate'), await run('mutate', 'b.scenario.yaml', '--max', '20', '-r', 'html'));
}, 180_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const NAMES = ['test', 'cover', 'sim', 'bench', 'replay', 'diff', 'mutate'] as const;

test('each verb writes the same page with data of its own', () => {
  const shells = NAMES.map((name) => {
    const text = readFileSync(made(name), 'utf8');
    return /<style>[^]*<\/style>/.exec(text)![0].length + /<script>[^]*/.exec(text)![0].length;
  });
  expect(new Set(shells).size).toBe(1);
});

test('a replay lists its causes and its records', () => {
  const { isGood, figures, groups } = reportOf(readFileSync(made('replay'), 'utf8'), 'list');
  expect(isGood).toBe(false);
  expect(figures).toContainEqual(['2', 'changed']);
  expect(figures).toContainEqual(['100 %', 'fidelity']);
  const records = groups.find(({ name }) => name === 'Records: changed')!;
  expect(records.items.map(({ title }) => title)).toEqual([
    'line 2: GET https://shop.test/admin from 198.51.100.1',
    'line 4: GET https://shop.test/admin from 198.51.100.1',
  ]);
  expect(records.items[0]!.rows.map(([label]) => label)).toEqual(
    expect.arrayContaining(['current', 'candidate']),
  );
});

describe.skipIf(!hasChromiumFor('the reports'))('in Chromium, from a file', () => {
  let browser: Browser;
  const complaints: string[] = [];
  const requests: string[] = [];

  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  async function opened(name: string, bypassCSP = false): Promise<Page> {
    const page = await (await browser.newContext({ bypassCSP })).newPage();
    page.on('console', (message) => complaints.push(`${name}: ${message.text()}`));
    page.on('pageerror', (error) => complaints.push(`${name}: ${(error as unknown as Error).message}`));
    page.on('dialog', () => complaints.push(`${name}: a dialog was opened`));
    page.on('request', (sent) => requests.push(sent.url()));
    await page.goto(pathToFileURL(made(name)).href);
    await expect.poll(() => page.locator('h1').count()).toBe(1);
    return page;
  }

  test('passed cases open, failed ones are open, and the search finds words of both', async () => {
    const page = await opened('test');
    const heads = page.locator('.item > .head');
    expect(await heads.count()).toBe(5);
    const expanded = () => page.locator('.item > .head[aria-expanded=true] .name').allTextContents();
    expect(await expanded()).toEqual(['wrong']);
    await heads.first().click();
    expect(await expanded()).toEqual(['home', 'wrong']);
    expect(await page.locator('.item').first().locator('.steps').innerText()).toContain('no bots');
    await page.keyboard.press('/');
    await page.keyboard.type('admin deci');
    await expect.poll(() => heads.count()).toBe(0);
    await page.keyboard.press('Escape');
    await expect.poll(() => heads.count()).toBe(5);
    await page.keyboard.type('@security');
    await expect.poll(() => page.locator('.item .name').allTextContents()).toEqual(['admin from outside']);
    await page.fill('input[type=search]', '');
    await page.locator('h1').click();
    await page.keyboard.press('f');
    await expect.poll(() => page.locator('.item .name').allTextContents()).toEqual(['wrong']);
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await expect.poll(expanded).toEqual([]);
    await page.keyboard.press('?');
    expect(await page.locator('.keys').innerText()).toContain('next, previous');
    await page.locator('footer summary').click();
    expect(await page.locator('footer pre').innerText()).toMatch(
      /@preact\/signals \d[^]*MIT License[^]*uplot \d/,
    );
  });

  test('coverage marks lines, and says what a line lacks', async () => {
    const page = await opened('cover');
    const line = page.locator('.covered_source .none .head').first();
    expect(await line.innerText()).toContain('203.0.113.0/24');
    await line.click();
    expect(await page.locator('.points').first().innerText()).toContain('office#0 decides');
    await page.fill('input[type=search]', 'no bots');
    await expect.poll(() => page.locator('.covered_source > li').count()).toBeLessThan(5);
    expect(await page.locator('.covered_source > li').count()).toBeGreaterThan(0);
  });

  test('simulations and benchmarks have plots, which are drawn', async () => {
    for (const [name, plots] of [
      ['sim', 4],
      ['bench', 6],
    ] as const) {
      const page = await opened(name);
      await expect.poll(() => page.locator('.plot canvas').count()).toBe(plots);
      // A plot that could not be drawn is empty: one color.
      const drawn = `[...document.querySelectorAll('.plot canvas')].map((canvas) => new Set(new Uint32Array(
        canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size > 20)`;
      expect(await page.evaluate(drawn)).toEqual(Array.from({ length: plots }, () => true));
    }
  });

  test('records of a replay, changes and survivors open and are found', async () => {
    const replay = await opened('replay');
    await replay.fill('input[type=search]', 'line 4');
    await expect.poll(() => replay.locator('.item').count()).toBeGreaterThan(0);
    expect((await replay.locator('h2').allTextContents()).join()).toContain('Records: changed');
    const diff = await opened('diff');
    expect(await diff.locator('.item.bad .inside').first().innerText()).toContain('curl');
    const mutate = await opened('mutate');
    expect(await mutate.locator('.item .inside').first().innerText()).toContain('notice it');
  });

  test.each(NAMES)('%s breaks no rule of accessibility, and fits 360 pixels', async (name) => {
    const page = await opened(name, true);
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme });
      await expectAccessible(page);
    }
    await page.setViewportSize({ width: 360, height: 800 });
    await expectFits(page, 360);
    await expectAccessible(page);
    const folderOfShots = process.env['EDGEPROOF_SHOTS'];
    if (folderOfShots === undefined) return;
    for (const [width, height] of [
      [1280, 900],
      [390, 844],
    ] as const)
      for (const colorScheme of ['light', 'dark']) {
        await page.setViewportSize({ width, height });
        await page.emulateMedia({ colorScheme });
        await page.screenshot({ path: join(folderOfShots, `${name}_${width}_${colorScheme}.png`) });
      }
  });

  test('nothing was loaded, and the console is empty', () => {
    expect(complaints).toEqual([]);
    expect(requests.filter((url) => !/^(?:file|data):/.test(url))).toEqual([]);
    expect(requests.filter((url) => url.startsWith('file:')).every((url) => url.endsWith('.html'))).toBe(
      true,
    );
  });
});
