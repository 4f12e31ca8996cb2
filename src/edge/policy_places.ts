import { linesOf, positionAt } from '../diagnostics/lines.ts';
import type { Source } from '../diagnostics/diagnostic.ts';
import { brandingOf } from '../engine/branding.ts';
import { checkAttachedPolicy, checkPolicy } from '../policy/document/check.ts';
import type { PolicyDocument } from '../policy/document/document.ts';
import type { Checked } from './document/check.ts';
import type { EdgeConfig } from './document/schema.ts';
import type { Locate } from './explain.ts';

/** The string that contains a policy, and the pointer inside it. */
const ATTACHED = /^(\/edges\/(https|tls|tcp)\/[^/]+(?:\/routes\/\d+)?\/traffic_policy\/value)(\/.+)$/;

/** `checked.locate`, which also finds the parts of policies inside the strings of the edge file. */
export function locateInPolicies(source: Source, { config, spanOf, locate }: Checked): Locate {
  if (config === null) return locate;
  const branding = brandingOf(config.service_name);
  const read = (pointer: string, kind: string): PolicyDocument | null => {
    const span = spanOf(pointer);
    const text = textAt(config, pointer);
    if (span === undefined || text === undefined) return null;
    const attachedTo = `${kind as 'https' | 'tls' | 'tcp'}_edge` as const;
    return checkAttachedPolicy({ pointer, text, inFile: { file: source, span } }, { branding, attachedTo })
      .document;
  };
  // A policy is parsed again when one of its places is asked for; most never are.
  const documents = new Map<string, PolicyDocument | null>();
  const lines = linesOf(source.text);
  return (pointer) => {
    const [, parent, kind] = ATTACHED.exec(pointer) ?? [];
    if (parent === undefined || kind === undefined) return locate(pointer);
    let document = documents.get(parent);
    if (document === undefined) documents.set(parent, (document = read(parent, kind)));
    const offset = offsetOf(document, pointer, parent);
    return offset === null ? locate(parent) : { file: source.name, ...positionAt(lines, offset) };
  };
}

/** Finds the parts of a policy file, whose policy is at `parent` in the edge that was generated around it. */
export function locateInPolicyFile(source: Source, parent: string): Locate {
  const { document } = checkPolicy(source, { branding: brandingOf('service') });
  const lines = linesOf(source.text);
  return (pointer) => {
    if (!pointer.startsWith(`${parent}/`)) return null;
    const offset = offsetOf(document, pointer.slice(parent.length), '');
    return offset === null ? null : { file: source.name, ...positionAt(lines, offset) };
  };
}

/** The start of the value at a pointer, or of its nearest parent: older spellings have other pointers. */
function offsetOf(document: PolicyDocument | null, pointer: string, end: string): number | null {
  if (document === null) return null;
  for (let at = pointer; at !== end; at = at.slice(0, at.lastIndexOf('/'))) {
    const place = document.placeOf(at);
    if (place !== undefined) return place.span.start;
  }
  return null;
}

/** The text at a JSON pointer (RFC 6901). */
function textAt(config: EdgeConfig, pointer: string): string | undefined {
  const keys = pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  const found = keys.reduce<unknown>(
    (value, key) => (value as Record<string, unknown> | undefined)?.[key],
    config,
  );
  return typeof found === 'string' ? found : undefined;
}
