import { EVENT_FILTER_SCOPE } from '../../src/events/filter_scope.ts';
import { expressionReferencePage } from '../../src/policy/env/reference_page.ts';
import { webhookDocument } from '../../src/webhooks/document.ts';
import { cliPage } from './cli_page.ts';
import { codePages } from './code_pages.ts';
import { eventPages } from './event_pages.ts';
import { filePages } from './file_pages.ts';
import { filterPages } from './filter_pages.ts';
import { libraryPage } from './library_page.ts';
import type { Page } from './markdown.ts';

/** Every page below `docs/reference/`. */
export async function referencePages(): Promise<readonly Page[]> {
  return [
    ...filePages(),
    ...filterPages(),
    ['expressions.md', expressionReferencePage(EVENT_FILTER_SCOPE.variables.values())],
    ...eventPages(),
    ...codePages(),
    ['webhooks.md', webhookDocument()],
    ['library.md', libraryPage()],
    ['commands.md', await cliPage()],
  ];
}
