import { childrenOf, walkNodes } from '../cel/ast.ts';
import { whenEnds } from '../filters/facts.ts';
import { ACTION_FACTS } from '../filters/table.ts';
import { compileCondition } from '../filters/evaluators.ts';
import type { PolicyDocument, Rule } from '../policy/document/document.ts';
import { scopeFor } from '../policy/env/scopes.ts';
import type { Cell } from './cells.ts';
import { type Diagram, type Truth, whyTooLarge } from './diagram.ts';
import { alternativesOf, partsOf, patternsOf } from './expression_parts.ts';
import { type Found, possible } from './finding.ts';
import { AT_START, type Effect, type Way } from './outcome.ts';
import { type PolicyPlace, type RunPhase, RuleConditions } from './rule_conditions.ts';
import type { TypedExpression } from './reader.ts';
import { fieldRead } from './terms.ts';

/** A policy of a route, where its rules are analysed. */
export interface ExaminedPolicy {
  readonly place: PolicyPlace;
  readonly document: PolicyDocument;
  readonly cells: readonly Cell[];
}

const PHASES: readonly RunPhase[] = ['on_http_request', 'on_http_response'];

/** Parts of expressions without effect, and patterns that match more than they seem to; `dead` rules are left out. */
export function expressionFindings(policy: ExaminedPolicy, dead: ReadonlySet<string>): readonly Found[] {
  const reader = new RuleReader(policy);
  let way = AT_START;
  return PHASES.flatMap((phase) => {
    if (phase === 'on_http_response') way = { ...way, changed: ANYTHING };
    return policy.document.phases[phase].flatMap((rule) => {
      const found = dead.has(rule.pointer) ? [] : guarded(() => ofRule(reader, rule, phase, way));
      way = behind(way, rule);
      return found;
    });
  });
}

/** A way on which the actions of a rule may have run. */
function behind({ effects, changed, ...way }: Way, { actions }: Rule): Way {
  const leaves = actions.every(({ type }) => ACTION_FACTS.get(type)!.leavesRequest);
  const ran = actions.map(({ type }) => ({ ...SOME_ACTION, type, key: type }));
  return { ...way, effects: [...effects, ...ran], changed: leaves ? changed : ANYTHING };
}

const SOME_ACTION: Omit<Effect, 'type' | 'key'> = {
  isUpstreamOnly: false,
  isLogin: false,
  passage: 'reports',
  mayFail: true,
  backends: [],
};

/** Anything may have been changed: nothing is known of the texts of its fields. */
const ANYTHING: Way['changed'] = {
  '*': 'before',
  url: 'before',
  headers: 'before',
  response: 'before',
  left_behind: 'before',
};

function guarded<Each>(find: () => readonly Each[]): readonly Each[] {
  try {
    return find();
  } catch (error) {
    // What is too large to be analysed is not reported.
    whyTooLarge(error);
    return [];
  }
}

class RuleReader {
  readonly policy: ExaminedPolicy;
  readonly #conditions: RuleConditions;

  constructor(policy: ExaminedPolicy) {
    this.policy = policy;
    this.#conditions = new RuleConditions(policy.place, policy.document);
  }

  /** When a rule with these expressions would apply. */
  condition(rule: Rule, texts: readonly string[], phase: RunPhase, way: Way): Diagram<Truth> {
    const expressions = texts.map((text, at) => ({
      ...(rule.expressions[at] ?? rule.expressions[0]!),
      text,
    }));
    return this.#conditions.of({ ...rule, expressions }, phase, way);
  }

  /** Whether two conditions certainly have the same result for all requests of the route. */
  areEqual(one: Diagram<Truth>, other: Diagram<Truth>): boolean {
    if (one === other) return true;
    const { diagrams } = this.policy.place.model.analysis;
    const { true: yes, false: no } = diagrams;
    const differ = diagrams.choose(
      one,
      diagrams.choose(other, no, yes, yes),
      diagrams.choose(other, yes, no, yes),
      diagrams.choose(other, yes, yes, no),
    );
    if (differ === no) return true;
    return this.policy.cells.every((cell) => !possible(cell, differ, (leaf) => leaf === 'true').isPossible);
  }

  /** Whether a rule means the same with another expression at an index. */
  isSame(rule: Rule, text: string, at: number, phase: RunPhase, way: Way): boolean {
    if (this.compiled(text, phase) === null) return false;
    const own = textsOf(rule);
    const [before, after] = [own, own.with(at, text)].map((texts) => this.condition(rule, texts, phase, way));
    return this.areEqual(before!, after!);
  }

  compiled(text: string, phase: RunPhase) {
    const { service } = this.policy.place.model.branding;
    return compileCondition(text, '', scopeFor(phase, { service })).program;
  }
}

function ofRule(reader: RuleReader, rule: Rule, phase: RunPhase, way: Way): readonly Found[] {
  const { diagrams } = reader.policy.place.model.analysis;
  const found: Found[] = [];
  let texts = rule.expressions.map(({ text }) => text);
  const whole = (): Diagram<Truth> => reader.condition(rule, texts, phase, way);
  const isAlways = (text: string): boolean =>
    reader.areEqual(reader.condition(rule, [text], phase, way), diagrams.true);
  for (let at = texts.length - 1; at >= 0; at--) {
    const { text, pointer } = rule.expressions[at]!;
    const program = reader.compiled(text, phase);
    // Constants are written on purpose.
    if (program === null || program.typed.ast.root.kind === 'literal') continue;
    found.push(...unanchored(reader, { rule, phase, way }, texts, at));
    found.push(...deadAlternatives(reader, { rule, phase, way }, text, pointer));
    for (const detail of wildcardsIn(program.typed))
      found.push({ code: 'analysis.literal_wildcard', pointer, detail: `\`${detail}\`` });
    if (isAlways(text)) {
      found.push({ code: 'analysis.always_true', pointer, detail: `\`${text}\``, isRemovable: true });
      continue;
    }
    const others = texts.filter((_, index) => index !== at);
    if (others.length > 0 && reader.areEqual(whole(), reader.condition(rule, others, phase, way))) {
      found.push({
        code: 'analysis.redundant_expression',
        pointer,
        detail: `\`${text}\``,
        isRemovable: true,
      });
      texts = texts.map((each, index) => (index === at ? 'true' : each));
      continue;
    }
    for (const part of partsOf(program.typed.ast.root, text)) {
      const shorter = part.without(texts[at]!);
      if (reader.compiled(shorter, phase) === null) continue;
      const changed = texts.map((each, index) => (index === at ? shorter : each));
      if (!reader.areEqual(whole(), reader.condition(rule, changed, phase, way))) continue;
      const code =
        part.kind === 'element'
          ? 'analysis.redundant_element'
          : part.operator === '&&' && isAlways(part.text)
            ? 'analysis.always_true'
            : part.operator === '||' &&
                reader.areEqual(reader.condition(rule, [part.text], phase, way), diagrams.false)
              ? 'analysis.never_true'
              : 'analysis.redundant_expression';
      // Parts are visited from the end, so that earlier offsets stay valid.
      if (part.kind === 'term') texts = changed;
      const isSame = reader.isSame(rule, part.shorter, at, phase, way);
      const fix = isSame ? { shorter: { from: text, to: part.shorter } } : {};
      found.push({ code, pointer, detail: `\`${part.text}\``, ...fix });
    }
  }
  return found;
}

/** Fields whose texts patterns usually describe from the start. */
const ANCHORED: Readonly<Record<string, { readonly start: RegExp; readonly end: boolean }>> = {
  // Also in later alternatives: the anchor of the first does not apply to them.
  path: { start: /^\/|\|\//, end: false },
  host: { start: /^[a-z0-9]/i, end: true },
};

function unanchored(
  reader: RuleReader,
  { rule, phase, way }: { readonly rule: Rule; readonly phase: RunPhase; readonly way: Way },
  texts: readonly string[],
  at: number,
): readonly Found[] {
  const text = texts[at]!;
  const program = reader.compiled(text, phase);
  if (program === null) return [];
  return patternsOf(program.typed.ast.root).flatMap(({ subject, pattern, replaced }): readonly Found[] => {
    const field = fieldRead(program.typed, subject);
    const form = field === undefined ? undefined : ANCHORED[field];
    if (form === undefined || !form.start.test(pattern)) return [];
    const anchored = `\\A(?:${pattern})${form.end ? '\\z' : ''}`;
    const changed = texts.map((each, index) => (index === at ? replaced(text, anchored) : each));
    if (reader.compiled(changed[at]!, phase) === null) return [];
    const isSame = reader.areEqual(
      reader.condition(rule, texts, phase, way),
      reader.condition(rule, changed, phase, way),
    );
    if (isSame) return [];
    const { pointer } = rule.expressions[at]!;
    return [{ code: 'analysis.unanchored_pattern', pointer, detail: `\`${pattern}\`` }];
  });
}

/** Alternatives of more patterns are not tried. */
const ALTERNATIVE_LIMIT = 40;

/** Alternatives of patterns that match no text of their field. */
function deadAlternatives(
  reader: RuleReader,
  { rule, phase, way }: { readonly rule: Rule; readonly phase: RunPhase; readonly way: Way },
  text: string,
  pointer: string,
): readonly Found[] {
  const program = reader.compiled(text, phase);
  const { diagrams } = reader.policy.place.model.analysis;
  const patterns = program === null ? [] : patternsOf(program.typed.ast.root);
  const tried = patterns.flatMap(({ subject, pattern }) =>
    alternativesOf(pattern).map(([alternative, only]) => ({ subject, alternative, only })),
  );
  return tried.slice(0, ALTERNATIVE_LIMIT).flatMap(({ subject, alternative, only }): readonly Found[] => {
    const alone = `${text.slice(subject.span.start, subject.span.end)}.matches(${JSON.stringify(only)})`;
    if (reader.compiled(alone, phase) === null) return [];
    const isDead = reader.areEqual(reader.condition(rule, [alone], phase, way), diagrams.false);
    return isDead
      ? [{ code: 'analysis.never_true', pointer, detail: `\`${alternative}\` in a pattern` }]
      : [];
  });
}

/** Constants with a star that paths and hosts are compared with as if it were a wildcard. */
function wildcardsIn(typed: TypedExpression): readonly string[] {
  const found: string[] = [];
  walkNodes(typed.ast.root, (node) => {
    if (node.kind !== 'binary' && node.kind !== 'call') return;
    const isPattern = node.kind === 'call' && node.name === 'matches';
    const children = childrenOf(node);
    const field = children.map((each) => fieldRead(typed, each)).find((each) => each !== undefined);
    if (field !== 'path' && field !== 'host') return;
    for (const each of children.flatMap((child) => (child.kind === 'list' ? childrenOf(child) : [child])))
      if (each.kind === 'literal' && typeof each.value === 'string')
        if ((isPattern ? /[^\]]\/\*(?:\$?$|\\?\.[a-z])/i : /^\*\.|\/\*/).test(each.value))
          found.push(each.value);
  });
  return found;
}

/**
 * The earlier rules that take the requests of a dead rule, in the order in which they do; empty if it contradicts itself, or
 * if the analysis of other routes has used up its nodes.
 */
export function takersOf(policy: ExaminedPolicy, pointer: string): readonly string[] {
  return guarded(() => takersIn(policy, pointer));
}

function takersIn(policy: ExaminedPolicy, pointer: string): readonly string[] {
  const reader = new RuleReader(policy);
  const { diagrams } = policy.place.model.analysis;
  for (const phase of PHASES) {
    const rules = policy.document.phases[phase];
    const at = rules.findIndex((rule) => rule.pointer === pointer);
    if (at < 0) continue;
    let left = reader.condition(rules[at]!, textsOf(rules[at]!), phase, AT_START);
    const takers: string[] = [];
    for (const rule of rules.slice(0, at)) {
      if (!rule.actions.some(({ type, config }) => whenEnds(ACTION_FACTS.get(type)!, config) === 'always'))
        continue;
      const condition = reader.condition(rule, textsOf(rule), phase, AT_START);
      const rest = diagrams.choose(condition, diagrams.false, left, diagrams.false);
      if (rest !== left) takers.push(rule.pointer);
      left = rest;
      if (left === diagrams.false) break;
    }
    return takers;
  }
  return [];
}

function textsOf({ expressions }: Rule): readonly string[] {
  return expressions.map(({ text }) => text);
}
