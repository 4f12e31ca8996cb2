import { readPageFiles } from '../server/pages.ts';
import type { Decider } from './decide/decider.ts';
import type { DecidingOptions } from './decide/handlers.ts';
import { type Inspector, type InspectorOptions, createInspector } from './server/inspector.ts';

const PAGES = new URL('../../dist/inspector/', import.meta.url);

/** What the edge decides with; what decides drafts is made when a page is opened. */
interface DecidingLater extends Omit<DecidingOptions, 'decider'> {
  readonly decider?: () => Promise<Decider>;
}

/** An inspector with the pages of the package, which decides again with what the edge decides with. */
export function inspectorWithPages(
  options: Omit<InspectorOptions, 'pages' | 'decide'>,
  { decider, ...deciding }: DecidingLater,
): Inspector {
  return createInspector({
    ...options,
    pages: () => readPageFiles(PAGES),
    decide: async (context, revisions) => {
      const { decidingPart } = await import('./decide/handlers.ts');
      const decides = { ...deciding, ...(decider !== undefined && { decider: await decider() }) };
      return decidingPart(decides)(context, revisions);
    },
  });
}
