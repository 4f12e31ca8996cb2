import { BOOL, STRING, stringWithFields } from '../../cel/types.ts';
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

export const USER_AGENT = stringWithFields(
  'UserAgent',
  {
    name: {
      type: STRING,
      doc: 'Browser, tool or robot, such as `Firefox`, `curl` or `Googlebot`.',
      read: (agent: UserAgentValue) => agent.parsed.name,
    },
    version: { type: STRING, doc: 'Its version.', read: (agent: UserAgentValue) => agent.parsed.version },
    os: {
      type: STRING,
      doc: 'Operating system, such as `Windows`, `iOS` or `Linux`; empty if unknown.',
      read: (agent: UserAgentValue) => agent.parsed.os,
    },
    os_version: {
      type: STRING,
      doc: 'Version of the operating system.',
      read: (agent: UserAgentValue) => agent.parsed.osVersion,
    },
    device: {
      type: STRING,
      doc: 'Device, such as `iPhone` or `Pixel 8`; empty if unknown.',
      read: (agent: UserAgentValue) => agent.parsed.device,
    },
    is_mobile: {
      type: BOOL,
      doc: 'Whether it is a phone.',
      read: (agent: UserAgentValue) => agent.parsed.isMobile,
    },
    is_tablet: {
      type: BOOL,
      doc: 'Whether it is a tablet.',
      read: (agent: UserAgentValue) => agent.parsed.isTablet,
    },
    is_desktop: {
      type: BOOL,
      doc: 'Whether it is a desktop or laptop computer.',
      read: (agent: UserAgentValue) => agent.parsed.isDesktop,
    },
    is_bot: {
      type: BOOL,
      doc: 'Whether it identifies itself as a robot.',
      read: (agent: UserAgentValue) => agent.parsed.isBot,
    },
    url: {
      type: STRING,
      doc: 'The page that a robot names about itself.',
      read: (agent: UserAgentValue) => agent.parsed.url,
    },
  },
  (agent: UserAgentValue) => agent.text,
);
