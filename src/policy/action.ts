import type {
  AnswerTo,
  Because,
  Fact,
  InnerStep,
  LocalResponse,
  Question,
  RequestHead,
  InternalTarget,
} from '../engine/contract.ts';
import type { LinkedRule } from '../engine/module.ts';
import type { ServiceNaming } from '../engine/naming.ts';
import type { ActionResult } from '../expression/vocabulary/action_results.ts';
import type { Surroundings } from '../expression/vocabulary/inputs.ts';
import type { ActionOf } from './document/document.ts';
import type { ActionType } from './actions/schemas.ts';
import type { Expression, Template, Watch } from './evaluators.ts';
import type { Failure } from './failure.ts';
import type { PolicyLogins } from './logins.ts';
import type { Phase } from './phase.ts';
import type { Walk } from './walk.ts';

/** What a policy is compiled for: all that its document only names. */
export interface PolicyContext {
  readonly naming: ServiceNaming;
  /** The endpoint that was asked for, facts of addresses, secrets: what expressions ask beyond the exchange. */
  readonly surroundings: (request: RequestHead | null) => Surroundings;
  readonly ipPolicy: (id: string) => readonly LinkedRule[];
  /** A response of the edge itself, with its error code where it has one. */
  readonly refusal: (status: number, code: number | null, message: string) => LocalResponse;
  /** Whether a host (lower case, ending in `.internal`) is an endpoint of the same configuration. */
  readonly isInternal: (host: string) => boolean;
  /** Whether `http-request` may be sent to loopback, private and link-local addresses. */
  readonly allowPrivateFetch: boolean;
  /** Keys and registry of logins; made for the policy alone when left out. */
  readonly logins?: PolicyLogins;
  /** Whether a request passes actions that are recognised but not simulated; else it stops with 501. */
  readonly passUnsimulated: boolean;
  /** `decided`: rules that applied and their actions. `full`: also those that did not, and why; slower. */
  readonly trace: 'decided' | 'full';
  /** Looks at every expression of the policy: for coverage. Every rule is then looked at, too. */
  readonly watch?: Watch;
}

/** What one run of an action comes to. */
export type ActionOutcome = Next | Ends | Waits | Failure;

/** The next action follows. */
export interface Next {
  readonly does: 'next';
  readonly step: InnerStep;
}

/** The phase ends here, with a response. */
export interface Ends {
  readonly does: 'end';
  readonly step: InnerStep;
  readonly as: EndKind;
  readonly response: LocalResponse;
  /** Hand the request to an endpoint of this configuration instead of answering. */
  readonly target?: InternalTarget;
}

/**
 * How a phase ends early. `answered` is a response in its own right, over which the response phase runs; a
 * `reply` of the edge and all the others leave at once.
 */
export type EndKind = 'answered' | 'replied' | 'denied' | 'redirected' | 'closed' | 'forwarded' | 'not_run';

/** The action needs something of the world first. */
export interface Waits {
  readonly does: 'wait';
  readonly question: Question;
  readonly resume: (answer: never) => ActionOutcome;
}

/** Suspends an action on a question. */
export function waitFor<Q extends Question>(
  question: Q,
  resume: (answer: AnswerTo<Q>) => ActionOutcome,
): Waits {
  return { does: 'wait', question, resume };
}

/** An action ready to run. */
export interface CompiledAction {
  readonly type: ActionType;
  readonly pointer: string;
  readonly run: (walk: Walk) => ActionOutcome;
  /** What is recorded when the action fails and is told to go on; null when a failure stops the request. */
  readonly onFailure: { readonly result: string; readonly base: ActionResult } | null;
  /** How the action ended a phase last, and the reason that was made of it. */
  readonly lastEnd: { ended: Ends | null; because: Because | null };
}

/** What an action's `compile` works with. Nothing here throws; what cannot be compiled fails when it is run. */
export interface Compiling {
  readonly context: PolicyContext;
  readonly phase: Phase;
  /** JSON pointer of the action. */
  readonly pointer: string;
  /** A text with `${…}`, by its pointer below the action's `config`, such as `/headers/x-lane`. */
  readonly template: (text: string, at: string) => Template;
  /** Plain data, in which every text is a template; a text that is exactly one `${…}` keeps its type. */
  readonly data: (value: unknown, at: string) => Expression;
  /** A bare expression; `retry` is the scope of retry conditions. */
  readonly expression: (text: string, at: string, where?: 'retry') => Expression;
  /** A cell of the policy's state, made by `initial`. */
  readonly cell: <S>(initial: () => S) => Cell<S>;
  /** A failure of this action. */
  readonly failure: (number: number, says: string) => Failure;
}

export interface Cell<S> {
  readonly index: number;
  readonly of: (walk: Walk) => S;
}

/** Sentences for everything that an action may come to, by the last part of its code. */
export type Sayings = Readonly<Record<string, string>>;

/** What the compiler keeps of an action. */
export type ActionBody = Pick<CompiledAction, 'run'> & Partial<Pick<CompiledAction, 'onFailure'>>;

/** A kind of action: declared in its folder, listed in `actions/table.ts`. */
export interface ActionKind<T extends ActionType> {
  readonly type: T;
  readonly says: Sayings;
  readonly compile: (action: ActionOf<T>, compiling: Compiling) => ActionBody;
}

/** Steps of one action, by the last part of their code; a step without detail is made once. */
export function stepsOf(type: ActionType, says: Sayings, pointer: string) {
  const prefix = type.replaceAll('-', '_');
  const made = new Map<string, InnerStep>();
  return (code: string, detail?: Readonly<Record<string, Fact>>): InnerStep => {
    let step = made.get(code);
    if (step === undefined) {
      step = {
        kind: 'action',
        name: type,
        code: `${prefix}.${code}`,
        says: says[code] ?? code,
        detail: {},
        pointer,
      };
      made.set(code, step);
    }
    return detail === undefined ? step : { ...step, detail };
  };
}
