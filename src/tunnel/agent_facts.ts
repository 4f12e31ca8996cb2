import type { Members, Refusal } from './binding/members.ts';

export type AgentCommand = 'restart' | 'stop' | 'update';

/** What an agent says about itself when it starts a session. */
export interface AgentFacts {
  readonly version: string;
  readonly os: string;
  readonly arch: string;
  readonly userAgent: string;
  readonly metadata: string;
  readonly heartbeatMs: number;
  readonly toleranceMs: number;
  /** Why the agent does not take a command; absent if it does. */
  readonly unsupported: Readonly<Partial<Record<AgentCommand, string>>>;
}

const METADATA_BYTES = 4_096;
const TEXT_CHARACTERS = 512;
const NANOSECONDS_IN_MS = 1_000_000;
/** Bounds of the time between heartbeats and of the tolerance, in ms. */
const MIN_BEAT_MS = 1_000;
const MAX_BEAT_MS = 300_000;
const TOO_OLD = 'the agent is too old for this command';

/** Versions of the protocol that this edge accepts; they differ in nothing that it uses. */
const PROTOCOL_VERSIONS = ['3', '2'];

/** Why an agent cannot have a session, with any token. An agent that names no version of the protocol is accepted. */
export function authRefusal(auth: Members): Refusal | null {
  const versions = auth.texts('Version');
  if (versions.length > 0 && !PROTOCOL_VERSIONS.some((each) => versions.includes(each)))
    return {
      number: 120,
      message: `The agent does not support version ${PROTOCOL_VERSIONS[0]} of the protocol.`,
    };
  const metadata = auth.object('Extra')?.text('Metadata') ?? '';
  if (Buffer.byteLength(metadata) <= METADATA_BYTES) return null;
  return { number: 100, message: `The metadata of the session has more than ${METADATA_BYTES} bytes.` };
}

/** Reads the `Extra` of an Auth request. */
export function agentFacts(extra: Members): AgentFacts {
  const short = (name: string): string => extra.text(name).slice(0, TEXT_CHARACTERS);
  return {
    version: short('Version'),
    os: short('OS'),
    arch: short('Arch'),
    userAgent: short('UserAgent'),
    // A refused session has an event, too.
    metadata: extra.text('Metadata').slice(0, METADATA_BYTES),
    heartbeatMs: milliseconds(extra.number('HeartbeatInterval'), 10_000),
    toleranceMs: milliseconds(extra.number('HeartbeatTolerance'), 15_000),
    unsupported: {
      ...why('restart', extra.textOrNull('RestartUnsupportedError')),
      ...why('stop', extra.textOrNull('StopUnsupportedError')),
      ...why('update', extra.textOrNull('UpdateUnsupportedError')),
    },
  };
}

/** An empty text means that the command is supported, an absent one that the agent does not know it. */
function why(command: AgentCommand, text: string | null): Partial<Record<AgentCommand, string>> {
  return text === '' ? {} : { [command]: (text ?? TOO_OLD).slice(0, TEXT_CHARACTERS) };
}

function milliseconds(nanoseconds: number, standard: number): number {
  if (nanoseconds <= 0) return standard;
  return Math.min(MAX_BEAT_MS, Math.max(MIN_BEAT_MS, nanoseconds / NANOSECONDS_IN_MS));
}
