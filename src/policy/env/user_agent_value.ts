import { BOOL, STRING, type Type, fieldsOf, stringWithFields } from '../../cel/types.ts';
import { type UserAgent, parseUserAgent } from './user_agent.ts';

/** A `User-Agent` field in expressions: its text, and its parsed parts on first use. */
export class UserAgentValue {
  readonly text: string;
  #parsed: UserAgent | undefined;

  constructor(text: string) {
    this.text = text;
  }

  get parsed(): UserAgent {
    return (this.#parsed ??= recall(this.text));
  }

  toJSON(): string {
    return this.text;
  }
}

/** Cache of recently parsed agents: few agents send most requests. Limited, and cleared when full. */
const recent = new Map<string, UserAgent>();
const CACHED_AGENTS = 256;
const CACHED_UNITS = 512;

function recall(text: string): UserAgent {
  const known = recent.get(text);
  if (known !== undefined) return known;
  const parsed = parseUserAgent(text);
  if (text.length > CACHED_UNITS) return parsed;
  if (recent.size >= CACHED_AGENTS) recent.clear();
  recent.set(text, parsed);
  return parsed;
}

const agentField = fieldsOf<UserAgentValue>();

function part(name: keyof UserAgent, type: Type, doc: string) {
  return agentField.present(type, doc, (agent) => agent.parsed[name]);
}

export const USER_AGENT = stringWithFields(
  'UserAgent',
  {
    name: part('name', STRING, 'Browser, tool or robot, such as `Firefox`, `curl` or `Googlebot`.'),
    version: part('version', STRING, 'Its version.'),
    os: part('os', STRING, 'Operating system, such as `Windows`, `iOS` or `Linux`; empty if unknown.'),
    os_version: part('osVersion', STRING, 'Version of the operating system.'),
    device: part('device', STRING, 'Device, such as `iPhone` or `Pixel 8`; empty if unknown.'),
    is_mobile: part('isMobile', BOOL, 'Whether it is a phone.'),
    is_tablet: part('isTablet', BOOL, 'Whether it is a tablet.'),
    is_desktop: part('isDesktop', BOOL, 'Whether it is a desktop or laptop computer.'),
    is_bot: part('isBot', BOOL, 'Whether it identifies itself as a robot.'),
    url: part('url', STRING, 'The page that a robot names about itself.'),
  },
  (agent: UserAgentValue) => agent.text,
);
