import type { LocatedDocument } from '../../config_file/document.ts';
import { type FileKind, readDocument } from '../../config_file/read.ts';
import type { Source } from '../../diagnostics/diagnostic.ts';

/**
 * Parses JSON with the engine's own parser, which is many times as fast; positions are determined only for
 * findings. Duplicate keys are left to the slow reader: they show as more colons than keys.
 */
export function quickJson(
  source: Source,
  kind: FileKind,
): { readonly document: LocatedDocument; readonly diagnostics: [] } | null {
  if (!/^\s*\{/.test(source.text)) return null;
  let value: unknown;
  try {
    value = JSON.parse(source.text) as unknown;
  } catch {
    return null;
  }
  if (keysWritten(source.text) !== keysWithin(value)) return null;
  let slow: LocatedDocument | null | undefined;
  const places = () => (slow ??= readDocument(source, kind).document);
  const document: LocatedDocument = {
    source,
    value,
    spanOf: (pointer) => places()?.spanOf(pointer),
    keySpanOf: (pointer) => places()?.keySpanOf(pointer),
  };
  return { document, diagnostics: [] };
}

/** Keys of all objects in a value. */
function keysWithin(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let keys = 0;
  if (Array.isArray(value)) {
    for (const part of value as readonly unknown[]) if (typeof part === 'object') keys += keysWithin(part);
    return keys;
  }
  // All keys of a JSON.parse result are own properties.
  for (const key in value) {
    const part = (value as Readonly<Record<string, unknown>>)[key];
    keys += typeof part === 'object' ? 1 + keysWithin(part) : 1;
  }
  return keys;
}

/** Number of keys in valid JSON: strings followed by a colon. */
function keysWritten(text: string): number {
  const key = /"(?:[^"\\]|\\.)*"\s*:/g;
  let keys = 0;
  while (key.test(text)) keys++;
  return keys;
}
