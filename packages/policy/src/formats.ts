/** Supported formats of a text argument. All are enforced. */
export const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['email', isEmail],
  ['uri', isUri],
  ['uuid', (text) => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text)],
  ['date', isDate],
  ['datetime', isDateTime],
  ['date-time', isDateTime],
  ['time', isTime],
  ['ipv4', isIpv4],
  ['ipv6', isIpv6],
  ['hostname', isHostname],
]);

const MAX_EMAIL = 254;

function isEmail(text: string): boolean {
  if (text.length > MAX_EMAIL) return false;
  const at = text.lastIndexOf('@');
  const local = text.slice(0, at);
  if (at < 1 || local.length > 64) return false;
  return (
    /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u.test(local) &&
    isDomain(text.slice(at + 1))
  );
}

const isDomain = (text: string): boolean =>
  text.length <= 253 &&
  text
    .split('.')
    .every((label) => /^[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?$/u.test(label));

function isHostname(text: string): boolean {
  const name = text.endsWith('.') ? text.slice(0, -1) : text;
  return (
    name !== '' &&
    name.length <= 253 &&
    name.split('.').every((label) => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i.test(label))
  );
}

/** An absolute URI: a scheme, a colon, and only characters allowed in a URI. */
function isUri(text: string): boolean {
  if (!/^[a-z][a-z0-9+.-]*:[\w!#$%&'()*+,./:;=?@[\]~-]+$/i.test(text)) return false;
  if (/%(?![0-9a-f]{2})/i.test(text)) return false;
  return !/^https?:/i.test(text) || /^https?:\/\/[^/?#]+/i.test(text);
}

const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) return false;
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = month === 2 && isLeap ? 29 : MONTH_DAYS[month - 1];
  return days !== undefined && day >= 1 && day <= days;
}

/** RFC 3339 with an optional zone, because people write `10:00:00` for a time of day. */
function isTime(text: string): boolean {
  return isClock(text, false);
}

function isClock(text: string, needsZone: boolean): boolean {
  const match = /^(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(z|[+-]\d{2}:\d{2})?$/i.exec(text);
  if (match === null || (needsZone && match[4] === undefined)) return false;
  const [hour, minute, second] = match.slice(1, 4).map(Number) as [number, number, number];
  if (hour > 23 || minute > 59 || second > 60) return false;
  const zone = /^[+-](\d{2}):(\d{2})$/.exec(match[4] ?? '');
  return zone === null || (Number(zone[1]) <= 23 && Number(zone[2]) <= 59);
}

function isDateTime(text: string): boolean {
  return /^[^t ]{10}[t ]/i.test(text) && isDate(text.slice(0, 10)) && isClock(text.slice(11), true);
}

function isIpv4(text: string): boolean {
  const parts = text.split('.');
  return (
    parts.length === 4 &&
    parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)
  );
}

function isIpv6(text: string): boolean {
  if (text.length > 45 || text.indexOf('::') !== text.lastIndexOf('::')) return false;
  const lastColon = text.lastIndexOf(':');
  const tail = text.slice(lastColon + 1);
  const hasIpv4 = tail.includes('.');
  if (hasIpv4 && !isIpv4(tail)) return false;
  const head = hasIpv4 ? `${text.slice(0, lastColon + 1)}0:0` : text;
  const halves = head.split('::');
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return false;
  return halves.length === 2 ? groups.length <= 7 : groups.length === 8;
}
