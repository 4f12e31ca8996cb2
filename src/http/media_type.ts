/** The type and subtype of a `Content-Type` value, lower case and without parameters (RFC 9110 §8.3.1). */
export function mediaType(value: string): string {
  const end = value.indexOf(';');
  return (end < 0 ? value : value.slice(0, end)).trim().toLowerCase();
}
