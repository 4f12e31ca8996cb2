import { rawText } from '../../editing/edited_text.ts';
import type { TextFacts } from '../open_file.ts';
import type { Settings } from '../settings.ts';

/** The name of the service in `actions.<service>`: of the settings, otherwise of the edge file. */
export function serviceOf(
  { edited: { tree, text } }: TextFacts,
  { serviceName }: Settings,
): string | undefined {
  if (serviceName !== null || tree?.kind !== 'map') return serviceName ?? undefined;
  const value = tree.entries.find(({ key }) => rawText(text, key) === 'service_name')?.value;
  return value?.kind === 'scalar' ? rawText(text, value) : undefined;
}
