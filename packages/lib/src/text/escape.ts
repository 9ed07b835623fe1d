/** One function per sink for untrusted text. Each makes the text inert in that sink only. */

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: control characters are what these patterns are for.
/**
 * Terminal sequences: CSI, then strings ended by BEL or ST (OSC, DCS, APC, PM, SOS), then any other
 * escape.
 */
const ANSI =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x9c|\x1b\\)?|\x1b[ -/]*[0-~]?/g;
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;
const CONTROL_OR_BREAK = /[\x00-\x1f\x7f-\x9f\u2028\u2029]+/g;
const INVALID_XML = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: see above.

/**
 * Characters that change the writing direction or hide text, so that the display would differ from
 * the content.
 */
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * For terminals: removes escape sequences, control characters except newline and tab, and direction
 * changes.
 */
export function escapeTerminal(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(ANSI, '')
    .replace(CONTROL, '')
    .replace(/[\u2028\u2029]/g, '\n')
    .replace(DIRECTION, '');
}

/**
 * For one line of a terminal or log: like `escapeTerminal`, with line breaks and tabs as one space.
 */
export function escapeTerminalLine(text: string): string {
  return escapeTerminal(text).replace(CONTROL_OR_BREAK, ' ');
}

/** Line separators that JSON leaves unescaped. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this pattern is for.
const JSON_BREAKS = /[\x7f-\x9f\u2028\u2029]/g;

/** For one line of a prompt: JSON without line breaks, so that no text can start a new line. */
export function escapeJsonLine(value: unknown): string {
  return JSON.stringify(value).replace(
    JSON_BREAKS,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * For the message of a GitHub workflow command, so that no line in it can start another command.
 */
export function escapeWorkflowCommandData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/** For a property (`file=`, `title=`) of a GitHub workflow command. */
export function escapeWorkflowCommandProperty(text: string): string {
  return escapeWorkflowCommandData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/**
 * For XML element content. Drops characters that XML 1.0 cannot represent, including lone
 * surrogates.
 */
export function escapeXmlText(text: string): string {
  return text
    .replace(INVALID_XML, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\r', '&#13;');
}

/**
 * For a quoted XML attribute. Line breaks and tabs become references, because a parser would turn
 * them into spaces.
 */
export function escapeXmlAttribute(text: string): string {
  return escapeXmlText(text)
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
    .replaceAll('\n', '&#10;')
    .replaceAll('\t', '&#9;');
}

/** For HTML content and quoted attributes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('\0', '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/**
 * For a cell of a GitHub Markdown table: one line without markup, links or mentions. Uses entities,
 * because code spans treat a backslash before `|` differently.
 */
export function escapeMarkdownTableCell(text: string): string {
  return escapeTerminalLine(text)
    .replace(/[&<>"'|\\`*_~[\]()#!@$:{}]/g, (char) => `&#${char.charCodeAt(0)};`)
    .replace(/www\./gi, (www) => `${www.slice(0, 3)}&#46;`)
    .trim();
}

/**
 * For the value of a Prometheus label, in double quotes. Lone surrogates have no UTF-8 form and
 * become U+FFFD.
 */
export function escapePrometheusLabel(text: string): string {
  return text
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n');
}

/**
 * JSON that is safe inside a `<script>` element: no closing tag, comment start or line separator.
 */
export function jsonInHtml(value: unknown): string {
  const json = JSON.stringify(value) ?? 'null';
  return json.replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** For Slack markup: no mentions, links or styles. */
export function escapeSlack(text: string): string {
  return escapeTerminalLine(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(/[*_~`]/g, (char) => `\u200b${char}\u200b`);
}

const LATEX: Readonly<Record<string, string>> = {
  '\\': '\\textbackslash{}',
  '~': '\\textasciitilde{}',
  '^': '\\textasciicircum{}',
  '<': '\\textless{}',
  '>': '\\textgreater{}',
  '|': '\\textbar{}',
  // \textquotedbl needs a font encoding that plain LaTeX does not load.
  '"': "''",
  '−': '$-$',
  '–': '--',
  '→': '$\\rightarrow$',
};

/** For LaTeX on one line: no character is a command, a comment, or ends a cell. */
export function escapeLatex(text: string): string {
  return escapeTerminalLine(text).replace(
    /[\\~^<>|"−–→{}$&#%_]/g,
    (char) => LATEX[char] ?? `\\${char}`,
  );
}

/**
 * A text that starts like a formula, optionally after our quote, which must survive a round trip.
 */
const FORMULA = /^'*[=+\-@\t\r]/;

/** For a spreadsheet cell: a leading quote keeps a text that starts like a formula from running. */
export const defuseFormula = (text: string): string => (FORMULA.test(text) ? `'${text}` : text);

/** Undoes `defuseFormula`. */
export const fuseFormula = (text: string): string =>
  text.startsWith("'") && FORMULA.test(text.slice(1)) ? text.slice(1) : text;
