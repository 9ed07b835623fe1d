import { domainToASCII, domainToUnicode } from 'node:url';

/*
 * JSON Schema formats for host names and addresses, as strict as RFC 1123, RFC 5891, RFC 3986 and
 * RFC 3987. Every pattern is one character class with a star, so no text can make them slow.
 */

const LABEL = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;

export function isHostname(text: string): boolean {
  if (text.length === 0 || text.length > 253) return false;
  return text
    .split('.')
    .every((label) => LABEL.test(label) && (!/^..--/.test(label) || isPunycodeLabel(label)));
}

/** Letters that IDNA 2008 disallows although Unicode allows them. */
const DISALLOWED = /[\u0640\u07fa\u302e\u302f\u3031-\u3035\u303b]/u;

/** The ASCII form of a label in another script. It must decode to something IDNA 2008 allows. */
function isPunycodeLabel(label: string): boolean {
  if (!/^xn--/i.test(label)) return false;
  const name = domainToUnicode(label);
  if (name === '' || name.slice(2, 4) === '--' || /^\p{M}/u.test(name) || DISALLOWED.test(name))
    return false;
  return domainToASCII(name) === label.toLowerCase() && inContext(name);
}

/** Characters allowed only next to certain others (RFC 5892, appendix A). */
function inContext(name: string): boolean {
  const characters = [...name];
  return characters.every((char, i) => {
    const before = characters[i - 1] ?? '';
    const after = characters[i + 1] ?? '';
    switch (char) {
      case '\u00b7':
        return before === 'l' && after === 'l';
      case '\u0375':
        return /\p{Script=Greek}/u.test(after);
      case '\u05f3':
      case '\u05f4':
        return /\p{Script=Hebrew}/u.test(before);
      case '\u30fb':
        return /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u.test(
          name.replaceAll('\u30fb', ''),
        );
      // Decoding has already checked the second rule of the non-joiner.
      case '\u200d':
        return /\p{M}/u.test(before);
      default:
        return !(/[\u0660-\u0669]/u.test(char) && /[\u06f0-\u06f9]/u.test(name));
    }
  });
}

const PATH = /^(?:[\w.~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*$/;
const QUERY = /^(?:[\w.~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*$/;
const USER = /^(?:[\w.~!$&'()*+,;=:-]|%[0-9A-Fa-f]{2})*$/;
const NAME = /^(?:[\w.~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*$/;
const FUTURE = /^v[0-9A-Fa-f]+\.[\w.~!$&'()*+,;=:-]+$/i;
const PARTS =
  /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s;

/** An absolute address, with a scheme. */
export const isUri = (text: string): boolean => isReference(text, true);

/** An absolute or relative address. */
export const isUriReference = (text: string): boolean => isReference(text, false);

/** Like `uri`, with letters of any script. */
export const isIri = (text: string): boolean => isUri(asUri(text));
export const isIriReference = (text: string): boolean => isUriReference(asUri(text));

/** RFC 3987 allows every letter, but not controls and private-use characters. */
const asUri = (text: string): string =>
  text.replace(/[^\p{ASCII}]/gu, (char) =>
    /[\p{C}\p{Z}]/u.test(char) ? char : encodeURIComponent(char),
  );

/** A host name in any script. */
export function isIdnHostname(text: string): boolean {
  if (/^[\p{ASCII}]*$/u.test(text)) return isHostname(text);
  const name = text.replace(/[\u3002\uff0e\uff61]/g, '.');
  const ascii = domainToASCII(name);
  return ascii !== '' && isHostname(ascii) && !/^\p{M}/u.test(name) && !DISALLOWED.test(name);
}

export function isIdnEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, at);
  return at > 0 && !/[\s\p{C}@]|^\.|\.$|\.\./u.test(local) && isIdnHostname(text.slice(at + 1));
}

/** Four numbers up to 255. Some programs read a leading zero as octal. */
export function isIpv4(text: string): boolean {
  const parts = text.split('.');
  return (
    parts.length === 4 &&
    parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)
  );
}

function isReference(text: string, needsScheme: boolean): boolean {
  const [, scheme, authority, path = '', query = '', fragment = ''] = PARTS.exec(text) ?? [];
  if (!PARTS.test(text) || (needsScheme && scheme === undefined)) return false;
  if (
    authority !== undefined &&
    (!isAuthority(authority) || (path !== '' && !path.startsWith('/')))
  )
    return false;
  // Without a scheme, a colon in the first segment would look like one.
  if (scheme === undefined && authority === undefined && path.split('/', 1)[0]!.includes(':'))
    return false;
  return PATH.test(path) && QUERY.test(query) && QUERY.test(fragment);
}

function isAuthority(text: string): boolean {
  const [user, rest] = text.includes('@')
    ? [text.slice(0, text.indexOf('@')), text.slice(text.indexOf('@') + 1)]
    : ['', text];
  if (!USER.test(user)) return false;
  const literal = /^\[([^\]]*)\](?::\d*)?$/.exec(rest);
  if (literal !== null) return isAddress(literal[1]!) || FUTURE.test(literal[1]!);
  const [, host = ''] = /^([^:]*)(?::\d*)?$/.exec(rest) ?? [undefined, '['];
  return NAME.test(host);
}

function isAddress(text: string): boolean {
  // The URL parser accepts no other literal, and no leading zeros.
  return /^[0-9A-Fa-f:.]+$/.test(text) && URL.canParse(`http://[${text}]/`);
}
