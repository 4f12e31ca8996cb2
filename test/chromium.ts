import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { hasLibrariesFor, hasProgram, requirePeer } from './peers.ts';

/** Debian's Chromium, driven as a person would; the parts of playwright-core that tests use. */

const CHROMIUM = '/usr/bin/chromium';

interface Locator {
  readonly textContent: () => Promise<string | null>;
  readonly innerText: () => Promise<string>;
  readonly allTextContents: () => Promise<string[]>;
  readonly inputValue: () => Promise<string>;
  readonly click: (options?: { modifiers?: readonly string[]; force?: boolean }) => Promise<void>;
  readonly fill: (text: string) => Promise<void>;
  readonly selectOption: (option: string) => Promise<unknown>;
  readonly press: (key: string) => Promise<void>;
  readonly first: () => Locator;
  readonly nth: (index: number) => Locator;
  readonly locator: (selector: string) => Locator;
  readonly count: () => Promise<number>;
  readonly isVisible: () => Promise<boolean>;
  readonly getAttribute: (name: string) => Promise<string | null>;
  readonly evaluate: (code: (element: never) => unknown) => Promise<unknown>;
}

export interface Page {
  readonly goto: (url: string) => Promise<unknown>;
  readonly url: () => string;
  readonly locator: (selector: string) => Locator;
  readonly fill: (selector: string, text: string) => Promise<void>;
  readonly selectOption: (selector: string, option: { index: number }) => Promise<unknown>;
  readonly keyboard: {
    readonly press: (key: string) => Promise<void>;
    readonly type: (text: string) => Promise<void>;
  };
  readonly evaluate: (code: string) => Promise<unknown>;
  readonly addScriptTag: (tag: { content: string }) => Promise<unknown>;
  readonly setViewportSize: (size: { width: number; height: number }) => Promise<void>;
  readonly emulateMedia: (media: { colorScheme?: string; reducedMotion?: string }) => Promise<void>;
  readonly screenshot: (options: { path: string }) => Promise<unknown>;
  readonly close: () => Promise<void>;
  readonly on: (event: string, listener: (given: { url: () => string; text: () => string }) => void) => void;
}

export interface Browser {
  readonly newContext: (options: {
    bypassCSP?: boolean;
    permissions?: readonly string[];
  }) => Promise<{ newPage: () => Promise<Page> }>;
  readonly close: () => Promise<void>;
}

/** Whether a browser is there; prints what is skipped where it is not. */
export function hasChromiumFor(what: string): boolean {
  return hasLibrariesFor(what) && hasProgram(CHROMIUM, ['--version'], what);
}

export function launchChromium(): Promise<Browser> {
  const { chromium } = requirePeer('playwright-core') as {
    chromium: { launch: (options: { executablePath: string; args: readonly string[] }) => Promise<Browser> };
  };
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
}

/** Fails for every rule of axe-core that the page breaks; the page needs a context that bypasses its policy. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.addScriptTag({ content: readFileSync(requirePeer.resolve('axe-core/axe.min.js'), 'utf8') });
  const violations = await page.evaluate(
    'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))',
  );
  expect(violations).toEqual([]);
}

/** Fails if the page is wider than its window. */
export async function expectFits(page: Page, width: number): Promise<void> {
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
}
