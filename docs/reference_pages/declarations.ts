import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Comment, type Program, type Statement, parseSync } from 'oxc-parser';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A name in a file of the source; the path is relative to the project. */
export interface NamedPlace {
  readonly file: string;
  readonly name: string;
}

/** A declaration as the source has it, without bodies of functions. */
export interface Declaration {
  readonly isType: boolean;
  /** The text of its docstring, as Markdown. */
  readonly doc: string;
  readonly text: string;
}

interface Parsed {
  readonly text: string;
  readonly program: Program;
  readonly comments: readonly Comment[];
}

const parsed = new Map<string, Parsed>();

function parse(file: string): Parsed {
  const known = parsed.get(file);
  if (known !== undefined) return known;
  const text = readFileSync(join(ROOT, file), 'utf8');
  const { program, comments } = parseSync(file, text);
  const found = { text, program, comments };
  parsed.set(file, found);
  return found;
}

/** The exported names of a file that only re-exports or declares, with the places of their declarations. */
export function exportsOf(file: string): readonly (readonly [exported: string, place: NamedPlace])[] {
  return parse(file).program.body.flatMap((statement) => {
    if (statement.type !== 'ExportNamedDeclaration') return [];
    const { source } = statement;
    const from = source === null ? file : join(dirname(file), source.value);
    const own = statement.declaration === null ? [] : namesOf(statement.declaration);
    const local = own.map((name) => [name, { file, name }] as const);
    return local.concat(
      statement.specifiers.map(
        (each) => [nameOf(each.exported), { file: from, name: nameOf(each.local) }] as const,
      ),
    );
  });
}

function nameOf(name: object): string {
  return 'value' in name ? String(name.value) : (name as { readonly name: string }).name;
}

function namesOf(declaration: Statement): readonly string[] {
  if (declaration.type === 'VariableDeclaration')
    return declaration.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? [id.name] : []));
  const { id } = declaration as { readonly id?: { readonly name?: string } | null };
  return typeof id?.name === 'string' ? [id.name] : [];
}

/** The declaration of a name; follows re-exports and imports. Throws if there is none. */
export function declarationOf({ file, name }: NamedPlace): Declaration {
  const { text, program, comments } = parse(file);
  for (const statement of program.body) {
    const inner = (
      statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
    ) as Statement | null;
    if (inner !== null && inner !== undefined && namesOf(inner).includes(name))
      return {
        isType: inner.type === 'TSInterfaceDeclaration' || inner.type === 'TSTypeAliasDeclaration',
        doc: docBefore(statement.start, text, comments),
        text: declared(inner, name, text),
      };
  }
  const further =
    importOf(file, name) ??
    exportsOf(file).find(([exported, place]) => exported === name && place.file !== file);
  if (further === undefined) throw new Error(`${file} does not declare ${name}`);
  return declarationOf(further[1]);
}

function importOf(file: string, name: string): readonly [string, NamedPlace] | undefined {
  for (const statement of parse(file).program.body) {
    if (statement.type !== 'ImportDeclaration') continue;
    for (const specifier of statement.specifiers) {
      if (specifier.type === 'ImportSpecifier' && specifier.local.name === name)
        return [
          name,
          { file: join(dirname(file), statement.source.value), name: nameOf(specifier.imported) },
        ];
    }
  }
  return undefined;
}

/** The docstring that ends right before an offset, without its stars. */
function docBefore(offset: number, text: string, comments: readonly Comment[]): string {
  const found = comments.findLast(
    ({ end, value }) => end <= offset && value.startsWith('*') && text.slice(end, offset).trim() === '',
  );
  if (found === undefined) return '';
  return found.value
    .replace(/^\*/, '')
    .replaceAll(/^\s*\* ?/gm, '')
    .trim();
}

/** A span of the source that is not a part of a declaration. */
interface Cut {
  readonly start: number;
  readonly end: number;
  readonly instead: string;
}

function declared(statement: Statement, name: string, text: string): string {
  if (statement.type === 'VariableDeclaration') {
    const own = statement.declarations.find(({ id }) => id.type === 'Identifier' && id.name === name)!;
    return `const ${text.slice(own.id.start, own.id.end)};`;
  }
  const cuts = bodiesIn(statement).toSorted((one, other) => other.start - one.start);
  let shown = text.slice(statement.start, statement.end);
  for (const { start, end, instead } of cuts) {
    const [from, to] = [start - statement.start, end - statement.start];
    shown = `${shown.slice(0, from).trimEnd()}${instead}${shown.slice(to)}`;
  }
  return shown;
}

function bodiesIn(statement: Statement): readonly Cut[] {
  if (statement.type === 'FunctionDeclaration')
    return statement.body === null ? [] : [{ ...statement.body, instead: ';' }];
  if (statement.type !== 'ClassDeclaration') return [];
  return statement.body.body.flatMap((member): Cut[] => {
    if (member.type !== 'MethodDefinition' || member.value.body === null) return [];
    return [{ start: member.value.body.start, end: member.value.body.end, instead: ';' }];
  });
}
