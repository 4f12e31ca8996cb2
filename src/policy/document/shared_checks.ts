import { type CheckedPolicy, checkPolicyText } from './check.ts';
import { movedDocument } from './checked_policies.ts';
import type { PolicySetting } from './setting.ts';

/** Policies of fewer characters are checked in a few milliseconds. */
const LARGE = 16_384;
/** The document of a large policy takes much memory. */
const KEPT = 2;

interface Known {
  readonly text: string;
  /** Pointer of the text when it was checked. */
  readonly at: string;
  /** What the check has read of the setting. */
  readonly read: ReadonlyMap<keyof PolicySetting, string | undefined>;
  readonly checked: CheckedPolicy;
}

/**
 * `checkPolicyText` that checks the same large text once for all places, if the parts of the setting that matter to it
 * are equal. Policies with findings are checked each time.
 */
export function sharedChecks(): typeof checkPolicyText {
  let known: readonly Known[] = [];
  return (attached, setting) => {
    const { text, pointer } = attached;
    if (text.length < LARGE) return checkPolicyText(attached, setting);
    const before = known.find((each) => each.text === text && isSameSetting(each, setting));
    if (before !== undefined) {
      known = [before, ...known.filter((each) => each !== before)];
      const { document, diagnostics } = before.checked;
      return { document: document && movedDocument(document, before.at, pointer), diagnostics };
    }
    const read = new Map<keyof PolicySetting, string | undefined>();
    const checked = checkPolicyText(attached, noting(setting, read));
    if (checked.diagnostics.length === 0) {
      known = [{ text, at: pointer, read, checked }, ...known].slice(0, KEPT);
    }
    return checked;
  };
}

function isSameSetting({ read }: Known, setting: PolicySetting): boolean {
  return Array.from(read).every(([key, value]) => JSON.stringify(setting[key]) === value);
}

/** The setting; what is read of it is noted, also if it is absent. */
function noting(setting: PolicySetting, read: Map<keyof PolicySetting, string | undefined>): PolicySetting {
  return new Proxy(setting, {
    get: (target, name) => {
      const key = name as keyof PolicySetting;
      if (!read.has(key)) read.set(key, JSON.stringify(target[key]));
      return target[key];
    },
  });
}
