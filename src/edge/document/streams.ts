import { quoted } from '../../diagnostics/message_text.ts';
import type { SoundConfig } from './edge_shape.ts';
import { childUses } from './references.ts';
import type { Report } from './report.ts';
import { streamEdgesOf } from './routes_of.ts';

/**
 * Checks that the backends of TLS and TCP edges can be connected to: without HTTP, an edge cannot respond by itself.
 */
export function checkStreams(config: SoundConfig, report: Report): void {
  for (const { kind, name, pointer, thing } of streamEdgesOf(config)) {
    if (!('backend' in thing)) {
      const message = `${kind.toUpperCase()} edge ${quoted(name)} has no backend, so every connection is closed`;
      report('edge.edge_without_backend', pointer, message, { at: 'key' });
      continue;
    }
    const id = thing.backend?.backend_id;
    const answering = id === undefined ? null : answeringBackend(config, id, new Set());
    if (answering === null) continue;
    const message = `backend ${quoted(answering)} is an HTTP response, which a ${kind.toUpperCase()} edge cannot send`;
    report('edge.backend_not_dialled', `${pointer}/backend/backend_id`, message);
  }
}

/** The first backend below this one that is a fixed HTTP response. */
function answeringBackend(config: SoundConfig, id: string, seen: Set<string>): string | null {
  const backend = config.backends?.[id];
  if (backend === undefined || seen.has(id)) return null;
  seen.add(id);
  if (backend.http_response !== undefined) return id;
  for (const child of childUses('', backend)) {
    const found = answeringBackend(config, child.name, seen);
    if (found !== null) return found;
  }
  return null;
}
