/** The words of a request such as `GET https://shop.test/admin from 203.0.113.9 user-agent: curl`. */
export function requestLine(written: string): string[] | null {
  const found =
    /^(?:([A-Za-z]+(?:-[A-Za-z]+)*) )?(https?:\/\/\S+)(?: from (\S+))?((?: [\w-]+: [^,]+,?)*)$/.exec(
      written.trim(),
    );
  if (found === null) return null;
  const [, method = 'GET', url = '', ip, headers = ''] = found;
  const fields = headers.split(',').flatMap((each) => (each.trim() === '' ? [] : ['--header', each.trim()]));
  return [method.toUpperCase(), url, ...(ip === undefined ? [] : ['--ip', ip]), ...fields];
}
