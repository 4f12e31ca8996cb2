import { EvalError, type Value } from '../../cel/values.ts';
import { valueOfPlain } from '../../policy/env/json.ts';
import {
  type Requirements,
  type Token,
  claimsProblem,
  headerProblem,
  isTokenProblem,
  readToken,
} from './algorithm.ts';
import { type ActionKind, type ActionOutcome, type Compiling, stepsOf } from '../action.ts';
import { ask } from '../../engine/contract.ts';
import { textsOf } from '../evaluators.ts';
import { FAILURES, Failure } from '../failure.ts';
import { type PolicyRun, keepResult } from '../policy_run.ts';
import type { KeyCache } from './action_key_sources.ts';
import { type Fault, refusals } from './action_refusals.ts';
import { messages, numbers } from './facts.ts';
import type { JwtValidationConfig } from './action_schema.ts';
import {
  ABSENCES,
  type BodyFields,
  type FoundToken,
  type Place,
  TOKEN_BODY_LIMIT_BYTES,
  bodyFields,
  compilePlaces,
  findToken,
  withoutTokenBody,
} from './action_tokens.ts';
import { type Signed, beginJob, verifySignatures } from './action_signatures.ts';

/** Requires all JSON Web Tokens of a request to be valid (RFC 7519). */
export const jwtValidation: ActionKind<'jwt-validation'> = {
  type: 'jwt-validation',
  compile: ({ type, config }, compiling) => {
    const places = compilePlaces(config.http.tokens, compiling);
    const { wantedOf, writtenUrls } = compileWanted(config, compiling);
    const cache = compiling.cell((): KeyCache => new Map());
    const { allowPrivateFetch } = compiling.context;
    const step = stepsOf(type, messages, compiling.pointer);
    const responses = refusals(compiling.context);
    const refuse = (at: number, fault: Fault, message: string): ActionOutcome => ({
      verdict: 'stop',
      as: 'denied',
      step: step(fault, { token: at, problem: message }),
      response: responses[fault],
    });

    const judge = (policyRun: PolicyRun, fields: BodyFields): ActionOutcome => {
      const wanted = wantedOf(policyRun);
      if (wanted instanceof Failure) return wanted;
      const tokens: Signed[] = [];
      for (const [at, place] of places.entries()) {
        const found = findToken(place, policyRun.activation, fields);
        if (found instanceof Failure) return found;
        if ('absent' in found.token) {
          const { absent } = found.token;
          return refuse(at, absent, `${place.method} ${found.name}: ${ABSENCES[absent]}`);
        }
        const token = readToken(found.token.text);
        if (isTokenProblem(token)) return refuse(at, token.fault, token.message);
        const required = requiredOf(place, wanted);
        const problem =
          headerProblem(token, required) ?? claimsProblem(token, required, policyRun.world.nowMs());
        if (problem !== null) return refuse(at, problem.fault, problem.message);
        tokens.push({ found, token });
      }
      return verifySignatures(policyRun, beginJob(tokens, wanted.urls), {
        cache: cache.of(policyRun),
        allowPrivate: (url) => allowPrivateFetch || writtenUrls.has(url),
        accept: () => accept(policyRun, tokens),
        refuse,
        unreachable: (url) =>
          compiling.failure(numbers.keys.number, `the keys at ${url} could not be fetched`),
      });
    };

    const accept = (policyRun: PolicyRun, tokens: readonly Signed[]): ActionOutcome => {
      const results: Value[] = [];
      for (const { found, token } of tokens) {
        const result = resultOf(found, token);
        if (result instanceof EvalError) return compiling.failure(FAILURES.action, result.message);
        results.push(result);
      }
      keepResult(policyRun, 'jwt_validation', { tokens: results });
      return { verdict: 'pass', step: step('valid', { tokens: tokens.length }) };
    };

    return {
      run: (policyRun) => {
        const { request } = policyRun.activation;
        const without = withoutTokenBody(request);
        if (without !== null || !places.some(({ method }) => method === 'body'))
          return judge(policyRun, without ?? 'missing');
        if (policyRun.requestBody !== null)
          return judge(policyRun, bodyFields(request.headers, policyRun.requestBody));
        return ask({ ask: 'body', limitBytes: TOKEN_BODY_LIMIT_BYTES }, (answer) =>
          'bytes' in answer
            ? judge(policyRun, bodyFields(request.headers, answer.bytes))
            : compiling.failure(FAILURES.action, `the body could not be read: ${answer.failure}`),
        );
      },
    };
  },
};

/** The evaluated allow-lists and sources. */
interface Wanted {
  readonly algorithms: Requirements['algorithms'];
  readonly issuers: readonly string[];
  readonly audiences: readonly string[] | null;
  readonly urls: readonly string[];
}

/** The key sets in the order in which they are tried, with their pointers. */
function sourcesOf(jws: JwtValidationConfig['jws']): readonly { url: string; pointer: string }[] {
  return jws.keys.flatMap((key, at) =>
    key.sources.flatMap((source, within) =>
      source.additional_jkus.map((url, index) => ({
        url,
        pointer: `/jws/keys/${at}/sources/${within}/additional_jkus/${index}`,
      })),
    ),
  );
}

function compileWanted(
  { issuer, audience, jws }: JwtValidationConfig,
  compiling: Compiling,
): {
  wantedOf: (policyRun: PolicyRun) => Wanted | Failure;
  /** Sources that no request can influence. */
  writtenUrls: ReadonlySet<string>;
} {
  const listed = (values: readonly string[], at: (index: number) => string) => {
    const templates = values.map((text, index) => compiling.template(text, at(index)));
    return ({ activation }: PolicyRun) => textsOf(templates, activation);
  };
  const valuesOf = (list: typeof issuer) => list.allow_list.map(({ value }) => value);
  const issuersOf = listed(valuesOf(issuer), (index) => `/issuer/allow_list/${index}/value`);
  const audiencesOf =
    audience === undefined
      ? null
      : listed(valuesOf(audience), (index) => `/audience/allow_list/${index}/value`);
  const sources = sourcesOf(jws);
  const urlsOf = listed(
    sources.map(({ url }) => url),
    (index) => sources[index]!.pointer,
  );
  const wantedOf = (policyRun: PolicyRun): Wanted | Failure => {
    const issuers = issuersOf(policyRun);
    if (issuers instanceof Failure) return issuers;
    const audiences = audiencesOf === null ? null : audiencesOf(policyRun);
    if (audiences instanceof Failure) return audiences;
    const urls = urlsOf(policyRun);
    return urls instanceof Failure ? urls : { algorithms: jws.allowed_algorithms, issuers, audiences, urls };
  };
  const written = sources.map(({ url }) => url).filter((url) => !url.includes('${'));
  return { wantedOf, writtenUrls: new Set(written) };
}

/** Token types that are identified by `typ` (RFC 9068 §2.1), and token types that must have an expiry. */
const TYPED: ReadonlySet<string> = new Set(['at+jwt', 'it+jwt']);
const EXPIRING: ReadonlySet<string> = new Set(['at+jwt', 'it+jwt', 'id_token', 'access_token']);

function requiredOf({ type }: Place, { algorithms, issuers, audiences }: Wanted): Requirements {
  return { algorithms, issuers, audiences, type: TYPED.has(type) ? type : null, expires: EXPIRING.has(type) };
}

function resultOf({ place, name }: FoundToken, token: Token): Value | EvalError {
  const header = valueOfPlain(token.header);
  if (header instanceof EvalError) return header;
  const payload = valueOfPlain(token.payload);
  if (payload instanceof EvalError) return payload;
  return {
    header,
    payload,
    location: place.method,
    location_property: name,
    signature: token.signatureText,
    verified: true,
  };
}
