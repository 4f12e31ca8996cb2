/**
 * Scripts that complete commands, options and their values, and file names everywhere else. They contain all they offer:
 * a key press starts no process, and what is on the line is never evaluated.
 */

/** A command, by the words that lead to it, and what can be written after it. */
export interface Offered {
  readonly path: readonly string[];
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly OfferedOption[];
  /** Values of its arguments, where only some are possible. */
  readonly choices: readonly string[];
}

export interface OfferedOption {
  /** Such as -e and --edge. */
  readonly flags: readonly string[];
  readonly description: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
}

export const SCRIPTS = { bash, zsh, fish, powershell } as const;

const flagsOf = (options: readonly OfferedOption[]): readonly string[] =>
  options.flatMap(({ flags }) => flags);
const withChoices = (options: readonly OfferedOption[]) =>
  options.filter(({ choices }) => choices.length > 0);
/** As one word of a shell. */
const single = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const named = (path: readonly string[]): string => ['edgeproof', ...path].join(' ');

function bash(offered: readonly Offered[]): string {
  const paths = offered.flatMap(({ path, commands }) =>
    commands.map(({ name }) => single(named([...path, name]))),
  );
  const cases = offered.map(({ path, commands, options, choices }) => {
    const values = withChoices(options).map(
      ({ flags, choices: some }) => `        ${flags.join('|')}) words=${single(some.join(' '))} ;;\n`,
    );
    const takes = flagsOf(options.filter(({ takesValue }) => takesValue));
    if (takes.length > 0) values.push(`        ${takes.join('|')}) return ;;\n`);
    const positional = [...commands.map(({ name }) => name), ...choices].join(' ');
    return `    ${single(named(path))})
      case "$previous" in
${values.join('')}        *) if [[ "$current" == -* ]]; then words=${single(flagsOf(options).join(' '))}; else words=${single(positional)}; fi ;;
      esac ;;
`;
  });
  return `# bash completion of edgeproof
_edgeproof() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" path=edgeproof words='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in
      ${paths.join('|')}) path="$path $word" ;;
    esac
  done
  COMPREPLY=()
  case "$path" in
${cases.join('')}  esac
  [ -z "$words" ] || while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -W "$words" -- "$current")
}
complete -o default -o bashdefault -F _edgeproof edgeproof
`;
}

/** A description within a specification of _arguments. */
const described = (text: string): string => text.replaceAll(/[[\]:\\]/g, String.raw`\$&`);

/** The function of a command. */
const functionOf = (path: readonly string[]): string =>
  ['_edgeproof', ...path].join('_').replaceAll('-', '_');

function zsh(offered: readonly Offered[]): string {
  const functions = offered.map(({ path, commands, options, choices }) => {
    const specs = options.flatMap(({ flags, description, takesValue, choices: some }) => {
      const value = !takesValue ? '' : some.length > 0 ? `:value:(${some.join(' ')})` : ':value:_files';
      return flags.map((flag) => single(`*${flag}[${described(description)}]${value}`));
    });
    if (commands.length === 0) {
      const rest = choices.length > 0 ? `*:argument:(${choices.join(' ')})` : '*:argument:_files';
      return `${functionOf(path)}() {\n  _arguments ${[...specs, single(rest)].join(' \\\n    ')}\n}\n`;
    }
    const list = commands.map((each) =>
      single(`${each.name}:${each.description.replaceAll(':', String.raw`\:`)}`),
    );
    const cases = commands.map((each) => `        ${each.name}) ${functionOf([...path, each.name])} ;;\n`);
    return `${functionOf(path)}() {
  local context state state_descr line
  typeset -A opt_args
  local -a commands=(${list.join(' \\\n    ')})
  _arguments -C ${[...specs, `'1: :->command'`, `'*:: :->rest'`].join(' \\\n    ')}
  case $state in
    command) _describe command commands ;;
    rest)
      case $words[1] in
${cases.join('')}      esac ;;
  esac
}
`;
  });
  return `#compdef edgeproof
# zsh completion of edgeproof
${functions.toReversed().join('')}compdef _edgeproof edgeproof
`;
}

function fish(offered: readonly Offered[]): string {
  const lines = offered.flatMap(({ path, commands, options, choices }) => {
    const seen = path.map((word) => `__fish_seen_subcommand_from ${word}`);
    const others =
      commands.length > 0
        ? [`not __fish_seen_subcommand_from ${commands.map(({ name }) => name).join(' ')}`]
        : [];
    const condition = [...seen, ...others].join('; and ');
    const when = condition === '' ? '' : ` -n ${single(condition)}`;
    const begin = `complete -c edgeproof${when}`;
    return [
      ...commands.map(({ name, description }) => `${begin} -f -a ${name} -d ${single(description)}`),
      ...options.map(({ flags, description, takesValue, choices: some }) => {
        const written = flags.map((flag) =>
          flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
        );
        const value = !takesValue ? '' : some.length > 0 ? ` -x -a ${single(some.join(' '))}` : ' -r';
        return `${begin} ${written.join(' ')}${value} -d ${single(description)}`;
      }),
      ...(choices.length > 0 ? [`${begin} -f -a ${single(choices.join(' '))}`] : []),
    ];
  });
  return `# fish completion of edgeproof\n${lines.join('\n')}\n`;
}

/** As a string of PowerShell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const list = (texts: readonly string[]): string => `@(${texts.map(quoted).join(', ')})`;

function powershell(offered: readonly Offered[]): string {
  const rows = offered.map(({ path, commands, options, choices }) => {
    const values = withChoices(options).flatMap(({ flags, choices: some }) =>
      flags.map((flag) => `${quoted(flag)} = ${list(some)}`),
    );
    const words = list([...commands.map(({ name }) => name), ...choices]);
    return `  ${quoted(named(path))} = @{ words = ${words}; flags = ${list(flagsOf(options))}; values = @{ ${values.join('; ')} } }\n`;
  });
  return `# PowerShell completion of edgeproof
$edgeproofOffered = @{
${rows.join('')}}
Register-ArgumentCompleter -Native -CommandName edgeproof -ScriptBlock {
  param($current, $line, $cursor)
  $path = 'edgeproof'
  $previous = ''
  foreach ($element in $line.CommandElements | Select-Object -Skip 1) {
    if ($element.Extent.EndOffset -ge $cursor -and "$element" -eq $current) { break }
    if ($edgeproofOffered.ContainsKey("$path $element")) { $path = "$path $element" }
    $previous = "$element"
  }
  $offered = $edgeproofOffered[$path]
  $words = if ($offered.values.ContainsKey($previous)) { $offered.values[$previous] }
    elseif ($current.StartsWith('-')) { $offered.flags } else { $offered.words }
  $words | Where-Object { $_ -like "$current*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}
`;
}
