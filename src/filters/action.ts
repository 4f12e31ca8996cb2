import type { ActionConfig, ActionType } from './action_schemas.ts';
import type {
  Reason,
  Fact,
  InnerStep,
  RequestHead,
  InternalAddress,
  InternalTarget,
  HandlerPart,
  Ask,
  Outcome,
  World,
} from '../engine/contract.ts';
import type { LocalResponse } from '../engine/questions.ts';
import type { LinkedRules } from '../engine/module.ts';
import type { Branding } from '../engine/branding.ts';
import type { ActionResult, Activation } from '../policy/env/activation.ts';
import type { Surroundings } from '../policy/env/inputs.ts';
import type { EndKind } from './facts.ts';
import type { Expression, Template, Watch } from './evaluators.ts';
import type { Failure } from './failure.ts';
import type { PolicyLogins } from '../auth/policy_logins.ts';
import type { FieldScope } from './action_fields_schema.ts';
import type { Phase } from './phase.ts';
import type { PolicyRun } from './policy_run.ts';

/** The context of a policy's compilation: what its document refers to by name. */
export interface PolicyContext {
  readonly branding: Branding;
  /** The requested endpoint, facts about addresses, secrets: inputs of expressions besides the exchange. */
  readonly surroundings: (request: RequestHead | null) => Surroundings;
  readonly ipPolicy: (id: string) => LinkedRules;
  /** The certificate of an authority as PEM; empty if unknown. */
  readonly authorityPem?: (id: string) => string;
  /** A response of the edge itself, with its error code if it has one. */
  readonly refusal: (status: number, code: number | null, message: string) => LocalResponse;
  /** Whether a host (lower case, ending in `.internal`) is an endpoint of the same configuration. */
  readonly isInternal: (host: string) => boolean;
  /** Whether there is such a TLS or TCP endpoint in the same configuration. */
  readonly isInternalAddress: (address: InternalAddress) => boolean;
  /** Whether `http-request` may be sent to loopback, private and link-local addresses. */
  readonly allowPrivateFetch: boolean;
  /** Keys and registry of logins; created for this policy alone if omitted. */
  readonly logins?: PolicyLogins;
  /** Whether a request passes actions that are recognised but not simulated; otherwise it stops with 501. */
  readonly passUnsimulated: boolean;
  /** `decided`: rules that applied, with their actions. `full`: also those that did not apply, and why; slower. */
  readonly trace: 'decided' | 'full';
  /** Observes every expression of the policy, for coverage. Every rule is then evaluated. */
  readonly watch?: Watch;
}

/** The result of one execution of an action, which returns `ask(…)` first if it needs an answer. */
export type ActionOutcome = ActionVerdict | Ask<ActionVerdict>;

type ActionVerdict = Next | Ends | Failure;

/** Continue with the next action. */
interface Next {
  readonly verdict: 'pass';
  readonly step: InnerStep;
}

/** End the phase with a response. */
export interface Ends {
  readonly verdict: 'stop';
  readonly step: InnerStep;
  readonly as: EndKind;
  readonly response: LocalResponse;
  /** Forward to an endpoint of this configuration instead of responding. */
  readonly target?: InternalTarget | InternalAddress;
}

/** An action ready to run. */
export interface CompiledAction extends HandlerPart {
  readonly type: ActionType;
  readonly run: (policyRun: PolicyRun) => ActionOutcome;
  /** Result to record if the action fails and is set to continue; null if a failure stops the request. */
  readonly onFailure: {
    readonly result: string;
    readonly base: ActionResult | ((activation: Activation) => ActionResult);
  } | null;
  /** The action's last end of a phase, and the reason derived from it. */
  readonly lastEnd: { ended: Ends | null; reason: Reason | null };
}

/** The context of an action's `compile`. Nothing here throws; what cannot be compiled fails at run time. */
export interface Compiling {
  readonly context: PolicyContext;
  readonly phase: Phase;
  /** JSON pointer of the action. */
  readonly pointer: string;
  /** A string with `${…}`, by its pointer below the action's `config`, such as `/headers/x-lane`. */
  readonly template: (text: string, at: string) => Template;
  /** Plain data in which every string is a template; a string that is exactly one `${…}` keeps its type. */
  readonly data: (value: unknown, at: string) => Expression;
  /** A bare expression; by default its scope is that of the phase. */
  readonly expression: (text: string, at: string, where?: FieldScope) => Expression;
  /**
   * A cell of the policy's state, made by `initial`. `concluded` changes it by the outcome of each request for which
   * `awaitOutcome` was called.
   */
  readonly cell: <S>(initial: (identity: () => string) => S, concluded?: Concluded<S>) => Cell<S>;
  /** A failure of this action. */
  readonly failure: (number: number, message: string) => Failure;
}

/** A request that the policy stopped later never reached the upstream: its outcome is `cancelled`. */
export type Concluded<S> = (state: S, serial: number, outcome: Outcome, world: World) => void;

interface Cell<S> {
  readonly index: number;
  readonly of: (policyRun: PolicyRun) => S;
}

/** Sentences for all results of an action, by the last part of their code. */
export type Messages = Readonly<Record<string, string>>;

/** The parts of a compiled action that its `compile` returns. */
export type ActionBody = Pick<CompiledAction, 'run'> & Partial<Pick<CompiledAction, 'onFailure'>>;

/** A kind of action: its face. Its facts are in `facts.ts`. */
export interface ActionKind<T extends ActionType> {
  readonly type: T;
  readonly compile: (action: ActionOf<T>, compiling: Compiling) => ActionBody;
}

/**
 * Steps of one action, by the last part of their code; a step without detail is created once. Those of an action that
 * only reports have `enforced: false`, so that a reader of a trace does not take them for a passed check.
 */
export function stepsOf(
  type: ActionType,
  message: Messages,
  pointer: string,
  { enforce = true }: { readonly enforce?: boolean } = {},
) {
  const prefix = type.replaceAll('-', '_');
  const always: Readonly<Record<string, Fact>> = enforce ? {} : { enforced: false };
  const made = new Map<string, InnerStep>();
  return (code: string, detail?: Readonly<Record<string, Fact>>): InnerStep => {
    let step = made.get(code);
    if (step === undefined) {
      step = {
        kind: 'action',
        name: type,
        code: `${prefix}.${code}`,
        message: message[code] ?? code,
        detail: always,
        pointer,
      };
      made.set(code, step);
    }
    return detail === undefined ? step : { ...step, detail: { ...detail, ...always } };
  };
}

export interface ActionOf<T extends ActionType> {
  readonly type: T;
  readonly config: ActionConfig<T>;
  readonly pointer: string;
}
