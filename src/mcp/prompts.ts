/** A prompt about one configuration. */
interface Prompt {
  readonly title: string;
  readonly description: string;
  readonly text: (file: string) => string;
}

/** The prompts that clients offer their users. */
// table: prompts
export const PROMPTS: Readonly<Record<string, Prompt>> = {
  harden_route: {
    title: 'Harden this route',
    description: 'Finds ways around the gates of an edge file and closes them, with a proof for each.',
    text: (file) =>
      `Make the routes of ${file} safe. Call \`check\` with exact: true, and repair each finding: apply its \`fix\` where there is one, and otherwise follow its hint. For each gate, state as a property what must never happen, and call \`prove\`; a witness shows a request that gets around the gate. Close that way, and prove again. At the end call \`diff\` with the original file, and list what is now closed and what is opened.`,
  },
  write_cases: {
    title: 'Write cases for this policy',
    description: 'Writes scenario cases for what nothing tests yet.',
    text: (file) =>
      `Write a scenario file for ${file}. Call \`cover\` on its scenarios to see what is not covered and why. For each open point, use \`why_not\` to find a request that reaches it, and \`explain\` to see the outcome; write a case that expects this outcome only if it is what the configuration is meant to do. Call \`test\`, and then \`cover\` again, until nothing is open that can happen.`,
  },
  explain_block: {
    title: 'Find out why a request is blocked',
    description: 'Explains a request, and the smallest change after which it passes.',
    text: (file) =>
      `Find out why a request is blocked by ${file}. Ask for its method, URL, headers and client address. Call \`explain\`, name the line that decided, and call \`why_not\` with the route that should have taken the request. Do not weaken a gate without being asked to.`,
  },
};
