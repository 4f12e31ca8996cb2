import { readFileSync, writeFileSync } from 'node:fs';
import type { Filter } from '../src/filters/facts.ts';
import { ACTION_FACTS, FILTERS, MODULE_FACTS } from '../src/filters/table.ts';

/**
 * Writes the lists of faces and schemas of the filters in `src/filters/table.ts`: `npm run generate` begins with
 * this. The table itself cannot import them: a policy is checked without the code that runs actions, and nothing that
 * runs loads zod. A face and a schema are exported under the type's name, such as `circuitBreaker`.
 */

type Face = 'module' | 'action';

const TABLE = new URL('../src/filters/table.ts', import.meta.url);
const HEAD = '// Generated from table.ts by `npm run generate`; do not edit.\n';

/** The folder of each filter, from the imports of the table. */
async function foldersOfTable(): Promise<ReadonlyMap<Filter, string>> {
  const imports = readFileSync(TABLE, 'utf8').matchAll(/^import \{ (\w+) \} from '(.+)\/facts\.ts';$/gm);
  const pairs = Array.from(imports, async ([, name, folder]) => {
    const facts = (await import(new URL(`${folder}/facts.ts`, TABLE).href)) as Record<string, Filter>;
    return [facts[name!]!, folder!] as const;
  });
  return new Map(await Promise.all(pairs));
}

/** `circuitBreaker` of `circuit-breaker`. */
function nameOf(type: string): string {
  return type.replaceAll(/[-_](\w)/g, (_all, letter: string) => letter.toUpperCase());
}

/** Schemas that differ on HTTPS edges are exported under a second name. */
async function schemaNameOf(type: string, folder: string, isHttps: boolean): Promise<string> {
  const schemas = (await import(new URL(`${folder}/module_schema.ts`, TABLE).href)) as object;
  const atEdge = `${nameOf(type)}AtEdge`;
  return isHttps && Object.hasOwn(schemas, atEdge) ? atEdge : nameOf(type);
}

/** Every generated list: path below the project, and text. */
export async function filterLists(): Promise<readonly (readonly [path: string, text: string])[]> {
  const folders = await foldersOfTable();
  const folderOf = (face: Face, type: string): string => {
    const found = FILTERS.find((filter) => filter[face]?.type === type);
    return folders.get(found!)!;
  };
  const importsOf = (face: Face, suffix: string, types: readonly string[]): string =>
    types
      .map((type) => `import { ${nameOf(type)} } from '${folderOf(face, type)}/${face}${suffix}.ts';\n`)
      .join('');
  const modules = [...MODULE_FACTS.keys()];
  const actions = [...ACTION_FACTS.keys()];
  const rows = actions
    .map((type) => (type === nameOf(type) ? `  ${type},\n` : `  '${type}': ${nameOf(type)},\n`))
    .join('');
  return [
    [
      'src/filters/modules.ts',
      `${HEAD}import type { Module } from '../engine/module.ts';\n${importsOf('module', '', modules)}
/** Every module, in the order of execution. */
export const MODULES = [\n${modules.map((type) => `  ${nameOf(type)},\n`).join('')}] as readonly Module<never>[];\n`,
    ],
    [
      'src/filters/actions.ts',
      `${HEAD}import type { ActionKind } from './action.ts';\n${importsOf('action', '', actions)}import type { ActionType } from './action_schemas.ts';

/** Every action that a policy can name, by its type. */
export const ACTIONS: { readonly [T in ActionType]: ActionKind<T> } = {\n${rows}};\n`,
    ],
    [
      'src/filters/action_schemas.ts',
      `${HEAD}import type * as z from 'zod';\n${importsOf('action', '_schema', actions)}
/** The schema of each action's \`config\`, by type. */
export const ACTION_SCHEMAS = {\n${rows}} as const;

/** The type of an action as in documents. */
export type ActionType = keyof typeof ACTION_SCHEMAS;

/** An action's \`config\` after reading: aliases resolved, defaults filled in. */
export type ActionConfig<T extends ActionType> = z.output<(typeof ACTION_SCHEMAS)[T]>;\n`,
    ],
    ['src/filters/module_schemas.ts', await moduleSchemas(folderOf)],
  ];
}

async function moduleSchemas(folderOf: (face: Face, type: string) => string): Promise<string> {
  const imports = new Set<string>();
  const groups: string[] = [];
  const forms = new Map<string, string>();
  const facts = [...MODULE_FACTS.values()];
  const lists = [
    [
      'ROUTE_MODULES',
      'routes of HTTPS edges',
      true,
      facts.filter(({ place, edgeKinds }) => place === 'route' && edgeKinds.includes('https')),
    ],
    [
      'EDGE_MODULES',
      'HTTPS edges',
      true,
      facts.filter(({ place, edgeKinds }) => place === 'edge' && edgeKinds.includes('https')),
    ],
    ['TLS_MODULES', 'TLS edges', false, facts.filter(({ edgeKinds }) => edgeKinds.includes('tls'))],
    ['TCP_MODULES', 'TCP edges', false, facts.filter(({ edgeKinds }) => edgeKinds.includes('tcp'))],
  ] as const;
  for (const [list, where, isHttps, own] of lists) {
    let rows = '';
    for (const { type } of own) {
      const folder = folderOf('module', type);
      const name = await schemaNameOf(type, folder, isHttps);
      const schemas = (await import(new URL(`${folder}/module_schema.ts`, TABLE).href)) as object;
      const form = Object.hasOwn(schemas, `${name}Api`) ? `${name}Api` : null;
      if (form !== null) forms.set(name, form);
      const names = form === null ? name : `${name}, ${form}`;
      imports.add(`import { ${names} } from '${folder}/module_schema.ts';\n`);
      rows += `  ${type}: ${name}.optional(),\n`;
    }
    groups.push(`\n/** Schemas of the modules of ${where}. */\nexport const ${list} = {\n${rows}};\n`);
  }
  const rows = Array.from(forms, ([name, form]) => `  [${name}, ${form}],\n`).join('');
  const types = `import type * as z from 'zod';\nimport type { ModuleApi } from './module_fields_schema.ts';\n`;
  return `${HEAD}${types}${[...imports].join('')}${groups.join('')}
/** The forms in the management API that differ, by schema. */
export const API_FORMS: ReadonlyMap<z.ZodObject, ModuleApi> = new Map<z.ZodObject, ModuleApi>([\n${rows}]);\n`;
}

if (import.meta.main) {
  for (const [path, text] of await filterLists()) writeFileSync(new URL(`../${path}`, import.meta.url), text);
}
