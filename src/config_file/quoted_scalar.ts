/** A text as a quoted scalar: double quotes if it contains single ones and nothing needs an escape. */
export function quotedScalar(text: string): string {
  const plain = !/["\\]/.test(text);
  if (hasControls(text) || text.includes('\n') || (text.includes("'") && plain)) return JSON.stringify(text);
  return text.includes("'") && /["\\]/.test(text) ? JSON.stringify(text) : `'${text.replaceAll("'", "''")}'`;
}

/** Whether a text has control characters other than ends of lines and tabs. */
export function hasControls(text: string): boolean {
  return /[^\P{Cc}\n\t]/u.test(text);
}
