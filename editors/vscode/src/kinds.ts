/** Kinds of files that edgeproof reads. */
export type Kind = 'edge' | 'policy' | 'scenario' | 'property';

const BY_NAME: readonly (readonly [RegExp, Kind])[] = [
  [/(?:^|[.])scenario[.](?:ya?ml|json)$/, 'scenario'],
  [/(?:^|[.])property[.](?:ya?ml|json)$/, 'property'],
  [/(?:^|[.])policy[.](?:ya?ml|json)$/, 'policy'],
  [/(?:^|[.])edge[.](?:ya?ml|json)$/, 'edge'],
];

const MODELINE =
  /^#\s*yaml-language-server:\s*\$schema=(?:\S*\/)?(edge|policy|scenario|property)[.]json\s*$/m;
const MEMBER = /^\s*\{\s*"\$schema"\s*:\s*"(?:[^"]*\/)?(edge|policy|scenario|property)[.]json"/;

/** The kind of a file: by the schema that it names in its first lines, or by its own name; null for other files. */
export function kindOf(path: string, text = ''): Kind | null {
  const head = text.slice(0, 2_000);
  const named = (MODELINE.exec(head) ?? MEMBER.exec(head))?.[1];
  if (named !== undefined) return named as Kind;
  const name = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
  return BY_NAME.find(([pattern]) => pattern.test(name))?.[1] ?? null;
}
