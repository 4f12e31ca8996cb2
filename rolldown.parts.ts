import { fileURLToPath } from 'node:url';
import type { Plugin } from 'rolldown';

/**
 * Parts of the engine in pages that are loaded after it, by the names through which the rest uses them. A name can be a
 * function, a class or an object that is not read while its importers are loaded.
 */
export type Parts = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

const ROOT = fileURLToPath(new URL('.', import.meta.url));
const STATE = `${ROOT}src/browser/parts.ts`;
const LOADERS = `${ROOT}src/browser/part_loaders.ts`;
const [STAND_IN, PART, OF_LOADERS] = ['\0stand-in:', '\0part:', '\0part loaders'];

/** Files that the engine itself loads later; they are loaded with the parts. */
export type OwnParts = readonly string[];

/** Puts stand-ins in the place of the parts until these are loaded; `src/browser/parts.ts` says how they are used. */
export function loadedLater(parts: Parts, own: OwnParts): Plugin {
  const places = new Map(
    Object.entries(parts).flatMap(([part, files]) =>
      Object.entries(files).map(([file, names]) => [ROOT + file, { part, names }] as const),
    ),
  );
  return {
    name: 'loaded later',
    async resolveId(id, importer) {
      if (id.startsWith(PART)) return id;
      if (importer === undefined || importer.startsWith(PART)) return null;
      const found = await this.resolve(id, importer, { skipSelf: true });
      if (found === null) return null;
      if (found.id === LOADERS) return OF_LOADERS;
      return places.has(found.id) && !isSamePackage(found.id, importer) ? STAND_IN + found.id : found;
    },
    load(id) {
      if (id === OF_LOADERS) return loaders(parts, own);
      if (id.startsWith(STAND_IN)) {
        const file = id.slice(STAND_IN.length);
        return standIn(file, places.get(file)!);
      }
      if (!id.startsWith(PART)) return null;
      const files = Object.entries(parts[id.slice(PART.length)]!);
      return files
        .map(
          ([file, names], at) => `import { ${names.join(', ')} } from ${quoted(ROOT + file)};
export const f${at} = { ${names.join(', ')} };`,
        )
        .join('\n');
    },
  };
}

const quoted = (text: string): string => JSON.stringify(text);

function isSamePackage(file: string, importer: string): boolean {
  const [, own] = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+\/)/.exec(file) ?? [];
  return own !== undefined && importer.startsWith(own);
}

function loaders(parts: Parts, own: OwnParts): string {
  const rows = Object.entries(parts).map(([part, files]) => {
    const each = Object.keys(files).map((file, at) => `${quoted(file)}: part.f${at}`);
    return `${quoted(part)}: () => import(${quoted(PART + part)}).then((part) => ({ ${each.join(', ')} }))`;
  });
  const others = own.map((file) => `import(${quoted(ROOT + file)})`);
  rows.push(`own: () => Promise.all([${others.join(', ')}]).then(() => ({}))`);
  return `export const LOADERS = { ${rows.join(',\n')} };`;
}

/** Its bindings become those of the part, so that nothing is in between then. */
function standIn(
  file: string,
  { part, names }: { readonly part: string; readonly names: readonly string[] },
): string {
  const lines = names.map((name) => `export let ${name} = standIn(${quoted(part)}, () => loaded?.${name});`);
  return `import { standIn, onLoaded } from ${quoted(STATE)};
let loaded = null;
${lines.join('\n')}
onLoaded(${quoted(part)}, ${quoted(file.slice(ROOT.length))}, (own) => { loaded = own; ${names.map((name) => `${name} = own.${name};`).join(' ')} });`;
}
