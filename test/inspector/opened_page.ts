import { expect } from 'vitest';
import { type Browser, type Page, launchChromium } from '../chromium.ts';

/** The page in Chromium; what its console says is kept, since it should say nothing. */
export interface OpenedPages {
  readonly complaints: string[];
  readonly requests: string[];
  readonly open: (url: string, bypassCSP?: boolean) => Promise<Page>;
  /** Closes the pages that were opened. */
  readonly closePages: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export async function openPages(): Promise<OpenedPages> {
  const browser: Browser = await launchChromium();
  const complaints: string[] = [];
  const requests: string[] = [];
  const opened: Page[] = [];
  return {
    complaints,
    requests,
    open: async (url, bypassCSP = false) => {
      const context = await browser.newContext({
        bypassCSP,
        permissions: ['clipboard-read', 'clipboard-write'],
      });
      const page = await context.newPage();
      opened.push(page);
      page.on('console', (message) => complaints.push(message.text()));
      page.on('pageerror', (error) => complaints.push((error as unknown as Error).message));
      page.on('request', (made) => requests.push(made.url()));
      page.on('dialog', () => complaints.push('a dialog was opened'));
      await page.goto(url);
      await expect.poll(() => page.locator('.link').textContent()).toContain('live');
      return page;
    },
    closePages: async () => {
      for (const page of opened.splice(0)) await page.close();
    },
    close: () => browser.close(),
  };
}

/** The paths in the list, from the top. */
export const pathsOf = (page: Page) => page.locator('.row .path').allTextContents();
