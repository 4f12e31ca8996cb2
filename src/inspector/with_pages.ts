import { readPageFiles } from '../server/pages.ts';
import { type DecidingOptions, decidingPart } from './decide/handlers.ts';
import { type Inspector, type InspectorOptions, createInspector } from './server/inspector.ts';

const PAGES = new URL('../../dist/inspector/', import.meta.url);

/** An inspector with the pages of the package, which decides again with what the edge decides with. */
export async function inspectorWithPages(
  options: Omit<InspectorOptions, 'pages' | 'decide'>,
  deciding: DecidingOptions,
): Promise<Inspector> {
  return createInspector({ ...options, pages: await readPageFiles(PAGES), decide: decidingPart(deciding) });
}
