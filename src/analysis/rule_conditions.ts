import { compileCondition } from '../filters/evaluators.ts';
import { isGuard } from '../filters/gates.ts';
import { ACTION_FACTS } from '../filters/table.ts';
import type { PolicyDocument, Rule } from '../policy/document/document.ts';
import { scopeFor } from '../policy/env/scopes.ts';
import { looseSource } from '../policy/loose_path.ts';
import { conditionDiagram } from './conditions.ts';
import type { Diagram, Truth } from './diagram.ts';
import type { Way } from './outcome.ts';
import { beforeImage } from './rewrites.ts';
import type { Dfa } from './texts/automaton.ts';
import { ENDS_WITH_SLASH, PLAIN_PATHS } from './model.ts';
import type { Model } from './model.ts';
import { type PathReading, type Setting, after, changesOfField } from './setting.ts';

/** A policy where it stands. */
export interface PolicyPlace {
  readonly model: Model;
  /** JSON pointer of the module, which is also the id of its endpoint. */
  readonly pointer: string;
  readonly text: string;
}

export type RunPhase = 'on_http_request' | 'on_http_response';

/** When a rule applies, by what earlier actions changed of the fields that it reads. */
interface KnownConditions {
  readonly reads: Set<string>;
  readonly conditions: Map<string, RuleCondition>;
}

interface RuleCondition {
  /** With the spellings of the path that a guard must also cover. */
  readonly whole: Diagram<Truth>;
  /** For the path as it is. */
  readonly written: Diagram<Truth>;
}

/** What a rule sees of the way to it. */
interface Seen {
  readonly phase: RunPhase;
  readonly changes: Setting['changesOf'];
  /** Types of the modules and actions that have run. */
  readonly ran: ReadonlySet<string>;
}

/** Types of the actions that leave a result of a name. */
const MAKERS = new Map<string, string[]>();
for (const { type, result } of ACTION_FACTS.values())
  if (result !== null) MAKERS.set(result.name, [...(MAKERS.get(result.name) ?? []), type]);

/** Actions that pass a request on to another edge: their result depends on it, and it may have run further actions. */
export const FORWARDING = Array.from(ACTION_FACTS.values()).flatMap(({ type, ends }) =>
  ends.how.includes('forwarded') ? [type] : [],
);

/** The variables that actions of a policy set; null if one sets variables that are not known. */
function variablesOf({ phases }: PolicyDocument): ReadonlySet<string> | null {
  const names = Object.values(phases)
    .flat()
    .flatMap(({ actions }) => actions)
    .map(({ type, config }) => {
      const { sets } = ACTION_FACTS.get(type)!;
      return sets === undefined ? [] : sets(config as never);
    });
  return names.includes(null) ? null : new Set(names.flatMap((each) => each ?? []));
}

/** When the rules of a policy apply. */
export class RuleConditions {
  readonly #place: PolicyPlace;
  /** The variables that the policy sets; null if they are not known. */
  readonly #variables: ReadonlySet<string> | null;
  readonly #known = new Map<Rule, KnownConditions>();
  /** Results of the connection phase are those of actions on no way. */
  readonly #actsOnConnect: boolean;
  #occurrences = 0;

  constructor(place: PolicyPlace, document: PolicyDocument) {
    this.#place = place;
    this.#variables = variablesOf(document);
    this.#actsOnConnect = document.phases.on_tcp_connect.length > 0;
  }

  /** When a rule applies, with the spellings of the path that a guard must also cover. */
  of(rule: Rule, phase: RunPhase, way: Way): Diagram<Truth> {
    return this.both(rule, phase, way).whole;
  }

  /** The same, and without these spellings. */
  both(rule: Rule, phase: RunPhase, way: Way): RuleCondition {
    let known = this.#known.get(rule);
    if (known === undefined) this.#known.set(rule, (known = { reads: new Set(), conditions: new Map() }));
    const { reads, conditions } = known;
    const seen = (): string => [...reads].map((field) => changesOfField(field, way.changed)).join('|');
    let condition = conditions.get(seen());
    if (condition === undefined) {
      const changes = (field: string): string => {
        reads.add(field);
        return changesOfField(field, way.changed);
      };
      const sources = rule.expressions.map(({ text }) => text);
      const ran = new Set(way.effects.map(({ type }) => type));
      const seenBy = { phase, changes, ran };
      const written = this.#inOrder(sources, seenBy, 'as_is');
      condition = { whole: this.#withSpellings(rule, seenBy, written), written };
      conditions.set(seen(), condition);
    }
    return condition;
  }

  /** All expressions, one after the other: the first that is not true decides. */
  #inOrder(sources: readonly string[], { phase, changes, ran }: Seen, path: PathReading): Diagram<Truth> {
    const { model, pointer } = this.#place;
    const { diagrams, atoms } = model.analysis;
    const setting: Setting = {
      atoms,
      diagrams,
      path,
      changesOf: changes,
      ofClient: model.ofClient,
      imageOf: (made) => model.analysis.images.get(made),
      editsOf: (made) => model.analysis.edits.get(made),
      surroundings: (expression) => model.surroundings(expression, pointer),
      isUnset: (name) => this.#isUnset(name, ran, changes),
      // Later phases may see the request as it was sent.
      ...(phase === 'on_http_request' && { madeOf: (made) => model.analysis.made.get(made) }),
      occurrence: () => this.#occurrences++,
    };
    const scope = scopeFor(phase, { service: model.branding.service });
    return sources.toReversed().reduce((rest, source) => {
      const { program } = compileCondition(source, '', scope);
      // An expression that does not compile fails.
      const each = program === null ? diagrams.error : conditionDiagram(program, setting);
      return diagrams.choose(each, rest, diagrams.false, diagrams.error);
    }, diagrams.true);
  }

  /** No phase begins with a variable, and only an action can set one. Results are those of actions that have run. */
  #isUnset(name: string, ran: ReadonlySet<string>, changes: Setting['changesOf']): boolean {
    const [root, key = '', result] = name.split('.');
    if (root === 'vars') return this.#variables?.has(key) === false || changes('vars') === '';
    const makers = MAKERS.get(result!);
    // All changes of a way say what has run on it.
    changes(name);
    if (this.#actsOnConnect || makers === undefined) return false;
    return [...makers, ...FORWARDING].every((type) => !ran.has(type));
  }

  /** As `policy/loose_path.ts`: a guard whose expressions are false is asked about other spellings of the path. */
  #withSpellings(rule: Rule, seenBy: Seen, plain: Diagram<Truth>): Diagram<Truth> {
    const { phase, changes } = seenBy;
    const { analysis, branding } = this.#place.model;
    const { diagrams, atoms } = analysis;
    if (!rule.actions.some(({ type, config }) => isGuard(ACTION_FACTS.get(type)!, config))) return plain;
    const scope = scopeFor(phase, { service: branding.service });
    const loose = rule.expressions.map(({ text }) => {
      const { program } = compileCondition(text, '', scope);
      return program === null ? 'literal' : looseSource(program);
    });
    if (loose.includes('literal') || !loose.some((each) => typeof each === 'object')) return plain;
    const sources = loose.map((each, at) =>
      typeof each === 'object' ? each.source : rule.expressions[at]!.text,
    );
    const isRewritten = loose.some((each) => typeof each === 'object' && each.isRewritten);
    // A rewritten expression that does not compile is left out, so that the rule is used as written.
    if (sources.some((source) => compileCondition(source, '', scope).program === null)) return plain;
    const holds = (path: PathReading): Diagram<Truth> =>
      diagrams.choose(this.#inOrder(sources, seenBy, path), diagrams.true, diagrams.false, diagrams.false);
    // Even a path with one reading may have been sent in another spelling.
    const asSent = diagrams.atom(
      atoms.opaque('target as sent', 'whether the target was sent in canonical form'),
    );
    const written = isRewritten ? diagrams.false : asSent;
    const respelled = diagrams.choose(written, diagrams.false, holds('respelled'), diagrams.error);
    const some = holds('some_spelling');
    const spelled = diagrams.atom(
      atoms.spelling(some, `whether \`${sources.join('` and `')}\` is true for another spelling of the path`),
    );
    const ofPath = (dfa: Dfa, message: string): Diagram<Truth> => {
      const made = changes('path');
      const image = analysis.images.get(made);
      const known = image === undefined ? null : beforeImage(image, dfa);
      return diagrams.atom(
        known === null
          ? atoms.text(after('path', made), dfa, message)
          : atoms.text('path', known, `${message}, after a rewrite`),
      );
    };
    const isPlain = ofPath(PLAIN_PATHS, 'the path can only be read in one way');
    const hasSlash = ofPath(ENDS_WITH_SLASH, 'the path ends with a slash');
    const otherwise = diagrams.choose(
      isPlain,
      diagrams.choose(
        hasSlash,
        diagrams.or(holds('respelled'), holds('without_slash')),
        respelled,
        diagrams.error,
      ),
      some === diagrams.false ? diagrams.false : some === diagrams.true ? diagrams.true : spelled,
      diagrams.error,
    );
    return diagrams.choose(plain, diagrams.true, otherwise, diagrams.error);
  }
}
