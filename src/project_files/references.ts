import { UNREADABLE } from '../config_file/document.ts';
import * as edits from '../config_file/edits.ts';
import type { EditOf, WantedFix } from '../diagnostics/report.ts';
import { pointerTo } from '../diagnostics/diagnostic.ts';
import { didYouMean, quoted } from '../diagnostics/message_text.ts';
import { suggest } from '../diagnostics/suggest.ts';
import type { Shape } from '../config_file/shape.ts';
import type { Report } from '../edge/document/report.ts';
import { isCredential } from '../http/secrets.ts';
import type { NamedFiles } from './named_files.ts';
import { POLICY_KEYS } from '../edge/document/written_policies.ts';
import type { StandIns } from './stand_ins.ts';

/** Whether a text may have references, so that most files are not searched. */
export const MAY_REFER = /\$\{\s*[A-Za-z]+\s*:|\$\{?[A-Z]/;
/** A variable as shells and other tools write it: `$NAME` or `${NAME}` as the whole value. */
const SHELL_VARIABLE = /^\$(?:\{([A-Z][A-Z0-9_]+)\}|([A-Z][A-Z0-9_]+))$/;
/** `${env:NAME}`, `${file:PATH}`, each with `:-` and a default; an escape has one more dollar. */
const REFERENCE = /(?<escape>\$?)\$\{(?<kind>[A-Za-z]+):(?<rest>[^{}]*)(?<end>\}?)/g;
const KINDS = ['env', 'file'] as const;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Values that programs make may be endless. */
const DEPTH_LIMIT = 64;
/** A larger file is taken for a mistake. */
const TEXT_LIMIT_UNITS = 1_000_000;
/** Shorter texts are not hidden, because they would match everywhere. */
const MIN_SECRET_UNITS = 6;
const SECRET_WORD =
  /(?:^|[^a-z])(?:secrets?|passw(?:or)?d|passwords|tokens?|credentials?|api[_-]?keys?|private[_-]?key(?:_pem)?)(?:$|[^a-z])/i;

/** What resolves references in the values of one file. */
export interface Referring {
  /** Name of the file. */
  readonly name: string;
  readonly files: NamedFiles;
  readonly report: Report;
  /** Collects the names of files that were read. */
  readonly read: Set<string>;
  /** Collects texts in places of secrets. */
  readonly secrets: Set<string>;
  readonly standIns?: StandIns | undefined;
}

interface At {
  readonly pointer: string;
  readonly depth: number;
  readonly shape: Shape | undefined;
  /** Inside a policy that is written as a map; `expression` for its conditions. */
  readonly inPolicy: boolean;
  readonly isCondition: boolean;
}

/** A value with its references replaced; the same value if it has none. Policies that are texts stay as they are. */
export function withoutReferences(value: unknown, shape: Shape, referring: Referring): unknown {
  return replaced(value, { pointer: '', depth: 0, shape, inPolicy: false, isCondition: false }, referring);
}

function replaced(value: unknown, at: At, referring: Referring): unknown {
  if (typeof value === 'string') return MAY_REFER.test(value) ? textOf(value, at, referring) : value;
  if (typeof value !== 'object' || value === null || at.depth > DEPTH_LIMIT) return value;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown, index) => {
      const pointer = pointerTo(at.pointer, index);
      return replaced(item, { ...at, pointer, depth: at.depth + 1, shape: at.shape?.items }, referring);
    });
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  const entries = Object.entries(value).map(([key, part]) => [
    key,
    replaced(part, below(at, key), referring),
  ]);
  const isSame = entries.every(([key, part]) => (value as Record<string, unknown>)[key as string] === part);
  return isSame ? value : Object.fromEntries(entries);
}

function below({ pointer, depth, shape, inPolicy, isCondition }: At, key: string): At {
  const { additionalProperties: others } = shape ?? {};
  const next = shape?.properties?.[key] ?? (others === false ? undefined : others);
  const isPolicy = inPolicy || (POLICY_KEYS.includes(key) && pointer.endsWith('/traffic_policy'));
  return {
    pointer: pointerTo(pointer, key),
    depth: depth + 1,
    shape: isPolicy ? undefined : next,
    inPolicy: isPolicy,
    isCondition: isCondition || (inPolicy && key === 'expressions'),
  };
}

const POLICY_TEXT = /\/traffic_policy\/value$/;

function textOf(text: string, at: At, referring: Referring): unknown {
  const { pointer, shape } = at;
  // A policy that is a text is what is published.
  if (POLICY_TEXT.test(pointer) || pointer.startsWith('/include')) return text;
  const variable = at.inPolicy ? null : SHELL_VARIABLE.exec(text);
  if (variable !== null) return refuseVariable(pointer, variable[1] ?? variable[2]!, referring);
  let failed = false;
  let isOnlyReference = false;
  const result = text.replaceAll(REFERENCE, (whole: string, ...rest: unknown[]) => {
    const {
      escape,
      kind,
      rest: named,
      end,
    } = rest.at(-1) as Readonly<Record<'escape' | 'kind' | 'rest' | 'end', string>>;
    const start = rest.at(-3) as number;
    const isKnown = KINDS.some((each) => each === kind);
    // In a policy the escape is one of its templates.
    if (escape !== '') return isKnown && !at.inPolicy ? whole.slice(1) : whole;
    const wrong = (
      code: 'edge.bad_reference' | 'edge.missing_variable' | 'edge.unreadable_file',
      message: string,
      hint?: string,
      meant?: string,
    ) => {
      failed = true;
      const within = { span: { start, end: start + whole.length }, decoded: text };
      referring.report(code, pointer, message, { within, hint, fix: fixOf(kind, meant) });
      return '';
    };
    if (!isKnown) {
      const meant = at.inPolicy ? undefined : suggest(kind.toLowerCase(), KINDS);
      return meant === undefined
        ? whole
        : wrong('edge.bad_reference', `${quoted(kind)} is not a kind of reference`, didYouMean(meant), meant);
    }
    if (end === '') return wrong('edge.bad_reference', `\`\${${kind}:\` has no closing brace`);
    if (at.isCondition)
      return wrong(
        'edge.bad_reference',
        'a condition of a policy cannot have references',
        'use secrets.get(…)',
      );
    const found = kind === 'env' ? variableOf(named, referring) : fileOf(named, referring);
    if ('problem' in found) {
      return standIn(pointer, found.problem, referring) ?? wrong(found.code, found.problem, found.hint);
    }
    if (at.inPolicy && found.text.includes('${'))
      return wrong('edge.bad_reference', `the value of ${whole} has \`\${\`, which a policy would evaluate`);
    if (isSecretPlace(pointer, found.name) && found.text.length >= MIN_SECRET_UNITS)
      referring.secrets.add(found.text);
    isOnlyReference = whole.length === text.length;
    return found.text;
  });
  if (failed) return UNREADABLE;
  return isOnlyReference ? typed(result, shape) : result;
}

function refuseVariable(pointer: string, name: string, { report }: Referring): typeof UNREADABLE {
  const instead = `\${env:${name}}`;
  const fix = { message: `write ${instead}`, safe: false, edit: edits.written(`"${instead}"`) };
  const message = 'a variable of the environment is written as ${env:NAME}';
  report('edge.bad_reference', pointer, message, { hint: `did you mean ${instead}?`, fix });
  return UNREADABLE;
}

type Found =
  | { readonly text: string; readonly name: string }
  | {
      readonly code: 'edge.bad_reference' | 'edge.missing_variable' | 'edge.unreadable_file';
      readonly problem: string;
      readonly hint?: string | undefined;
    };

/** The replacement of a setting of a login whose value this machine does not have. */
function standIn(pointer: string, problem: string, { standIns }: Referring): string | null {
  const key = pointer.slice(pointer.lastIndexOf('/') + 1);
  const text = standIns?.loginSetting(key) ?? null;
  const [given = problem] = problem.split(';');
  if (text !== null) standIns?.replaced({ part: `login ${key}`, written: given, here: 'made up' });
  return text;
}

function variableOf(named: string, { files }: Referring): Found {
  const { name, fallback } = split(named);
  if (!VARIABLE.test(name))
    return {
      code: 'edge.bad_reference',
      problem: `${quoted(name)} is not the name of an environment variable`,
    };
  const text = files.variable(name);
  if (text !== undefined && text !== '') return { text, name };
  if (fallback !== null) return { text: fallback, name };
  const problem = `the environment variable ${name} is ${text === undefined ? 'not set' : 'empty'}`;
  return { code: 'edge.missing_variable', problem, hint: `set it, or write a default: \${env:${name}:-…}` };
}

function fileOf(named: string, { files, name: from, read }: Referring): Found {
  const { name, fallback } = split(named);
  if (name === '') return { code: 'edge.bad_reference', problem: 'the path of a file is missing' };
  const path = files.nameOf(from, name);
  read.add(path);
  const source = files.read(path);
  if ('problem' in source) {
    if (fallback !== null && source.isMissing) return { text: fallback, name };
    return { code: 'edge.unreadable_file', problem: source.problem, hint: source.hint };
  }
  if (source.text.length > TEXT_LIMIT_UNITS)
    return { code: 'edge.unreadable_file', problem: `${path} is too large for a value` };
  // Editors and `echo` end a file with a line break.
  return { text: source.text.replace(/\r?\n$/, ''), name };
}

function split(named: string): { readonly name: string; readonly fallback: string | null } {
  const at = named.indexOf(':-');
  return at < 0
    ? { name: named, fallback: null }
    : { name: named.slice(0, at), fallback: named.slice(at + 2) };
}

function isSecretPlace(pointer: string, name: string): boolean {
  const keys = pointer.split('/');
  return (
    SECRET_WORD.test(name) || keys.some((key) => SECRET_WORD.test(key) || isCredential(key.toLowerCase()))
  );
}

/** Numbers and booleans can come from the environment, too. */
function typed(text: string, shape: Shape | undefined): unknown {
  if (shape?.type === 'integer' || shape?.type === 'number')
    return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
  if (shape?.type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

/** Writes another kind of reference in the place of one. */
function fixOf(kind: string, meant: string | undefined): WantedFix | undefined {
  if (meant === undefined) return undefined;
  const edit: EditOf = (text, marked) => {
    const start = text.indexOf(kind, marked.start);
    const span = { start, end: start + kind.length };
    return start < 0 || span.end > marked.end ? null : { span, text: meant };
  };
  return { message: `write ${meant}`, safe: false, edit };
}
